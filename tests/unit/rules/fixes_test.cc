#include "rules/engine/fixes.h"

#include <gtest/gtest.h>

namespace dmprof::rules {
namespace {

Knob knob(std::string name, std::string value, std::string how, std::string handle, std::string range = "") {
  Knob result;
  result.name = std::move(name), result.value = std::move(value), result.how = std::move(how),
  result.handle = std::move(handle);
  result.range = std::move(range);
  return result;
}

Fix fix(std::string name, std::string to, Fix::Change change = Fix::Change::set) {
  Fix result;
  result.knob = std::move(name), result.to = std::move(to), result.change = change;
  return result;
}

std::vector<SuggestedFix> suggested(const std::vector<Fix>& fixes, const std::vector<Knob>& knobs,
                                    std::string command = "dm-engine --model m.gguf") {
  Context context;
  context.knobs = knobs;
  context.engine = "dm-engine";
  context.command = std::move(command);
  return suggest(fixes, context);
}

TEST(Fixes, an_environment_knob_becomes_the_recorded_command_with_the_variable_before_it) {
  const auto fixes =
      suggested({fix("cache_policy", "2")}, {knob("cache_policy", "0", "environment", "DM_CACHE_POLICY", "0|1|2")});
  ASSERT_EQ(fixes.size(), 1u);
  EXPECT_EQ(fixes[0].from, "0");
  EXPECT_EQ(fixes[0].command.at("dm-engine"), "DM_CACHE_POLICY=2 dm-engine --model m.gguf");
  EXPECT_EQ(fixes[0].recorded_engine, "dm-engine");
  EXPECT_FALSE(fixes[0].predicted_gain);
}

TEST(Fixes, a_flag_is_replaced_where_it_stands_or_added) {
  const std::vector<Knob> knobs = {knob("lookahead", "5", "flag", "--lookahead", "0..16")};
  const auto command = [&](std::string recorded) {
    return suggested({fix("lookahead", "8")}, knobs, std::move(recorded))[0].command.at("dm-engine");
  };
  EXPECT_EQ(command("dm-engine --lookahead 5 --prompt 'a b'"), "dm-engine --lookahead 8 --prompt 'a b'");
  EXPECT_EQ(command("dm-engine --lookahead=5"), "dm-engine --lookahead=8");
  EXPECT_EQ(command("dm-engine"), "dm-engine --lookahead 8");
  EXPECT_EQ(command("dm-engine --prompt 'say --lookahead 5'"), "dm-engine --prompt 'say --lookahead 5' --lookahead 8");
}

TEST(Fixes, a_file_knob_is_written_to) {
  const auto fixes =
      suggested({fix("interleave_sched", "1")}, {knob("interleave_sched", "0", "file", "/run/dm/interleave_sched")});
  EXPECT_EQ(fixes[0].command.at("dm-engine"), "echo 1 > /run/dm/interleave_sched");
}

TEST(Fixes, the_variables_of_the_recorded_run_come_along) {
  Context context;
  const std::vector<Knob> knobs = {knob("cache_policy", "0", "environment", "DM_CACHE_POLICY")};
  context.knobs = knobs, context.command = "dm-engine";
  context.variables = {{"DM_CACHE_POLICY", "0"}, {"DM_LOOKAHEAD", "5"}};
  EXPECT_EQ(suggest({fix("cache_policy", "2")}, context)[0].command.at("recorded engine"),
            "DM_LOOKAHEAD=5 DM_CACHE_POLICY=2 dm-engine");
}

TEST(Fixes, what_changes_nothing_or_goes_the_wrong_way_or_out_of_range_is_not_suggested) {
  const std::vector<Knob> knobs = {knob("cache_policy", "2", "environment", "DM_CACHE_POLICY", "0|1|2"),
                                   knob("lookahead", "10", "flag", "--lookahead", "0..16"),
                                   knob("batch", "1", "flag", "--batch", "1..2")};
  EXPECT_TRUE(suggested({fix("cache_policy", "2"), fix("cache_policy", "7"), fix("lookahead", "8", Fix::Change::raise),
                         fix("batch", "4")},
                        knobs)
                  .empty());
}

TEST(Fixes, what_can_be_typed_comes_before_what_cannot) {
  const auto fixes = suggested({fix("shown_only", "1"), fix("lookahead", "8")},
                               {knob("shown_only", "0", "", ""), knob("lookahead", "5", "flag", "--lookahead")});
  ASSERT_EQ(fixes.size(), 2u);
  EXPECT_EQ(fixes[0].knob, "lookahead");
  EXPECT_EQ(fixes[1].recorded_engine, "");
  EXPECT_EQ(fixes[1].from, "0");
}

TEST(Fixes, a_knob_that_the_recorded_engine_does_not_have_is_not_proposed) {
  const std::vector<Knob> knobs = {knob("lookahead", "5", "flag", "--lookahead")};
  const auto fixes = suggested({fix("prefetch_distance", "8", Fix::Change::raise), fix("lookahead", "8")}, knobs);
  ASSERT_EQ(fixes.size(), 1u);
  EXPECT_EQ(fixes[0].knob, "lookahead");
  EXPECT_TRUE(suggested({fix("prefetch_distance", "8")}, knobs).empty());
}

TEST(Fixes, an_engine_that_registers_no_knobs_may_have_any_of_them) {
  const auto fixes = suggested({fix("interleave_sched", "1"), fix("lookahead", "8")}, {});
  ASSERT_EQ(fixes.size(), 2u);
  EXPECT_EQ(fixes[0].knob, "interleave_sched");
  EXPECT_FALSE(fixes[0].from);
  EXPECT_EQ(fixes[0].recorded_engine, "");
}

TEST(Fixes, a_path_cannot_be_typed_for_the_user) {
  Knob draft = knob("draft", "small.gguf", "environment", "DM_DRAFT");
  draft.type = "path";
  Fix larger = fix("draft", "3b", Fix::Change::raise);
  larger.command = {{"c8", "export DM_DRAFT=3b"}, {"llama.cpp", "--model-draft <larger draft>"}};
  EXPECT_TRUE(suggested({larger}, {draft}).empty()) << "a size is no path";
  larger.path_to = "a larger draft model";
  const auto fixes = suggested({larger}, {draft});
  ASSERT_EQ(fixes.size(), 1u);
  EXPECT_EQ(fixes[0].from, "small.gguf");
  EXPECT_EQ(fixes[0].to, "a larger draft model");
  EXPECT_EQ(fixes[0].recorded_engine, "");
  EXPECT_FALSE(fixes[0].command.contains("c8"));
  EXPECT_FALSE(fixes[0].command.contains("dm-engine"));
}

TEST(Fixes, no_larger_draft_model_is_proposed_where_there_is_none_to_replace) {
  Fix larger = fix("draft", "3b", Fix::Change::raise);
  larger.path_to = "a larger draft model";
  for (const char* without : {"none", "ngram", ""}) {
    Knob draft = knob("draft", without, "environment", "DM_DRAFT", "none|ngram|FILE");
    draft.type = "path";
    EXPECT_TRUE(suggested({larger}, {draft}).empty()) << without;
  }
}

TEST(Fixes, sizes_are_compared_as_sizes) {
  const auto proposes = [](const char* now) {
    return !suggested({fix("draft", "3b", Fix::Change::raise)},
                      {knob("draft", now, "environment", "DM_DRAFT", "350m|1b|3b|7b")})
                .empty();
  };
  EXPECT_TRUE(proposes("1b"));
  EXPECT_TRUE(proposes("350m"));
  EXPECT_FALSE(proposes("3b"));
  EXPECT_FALSE(proposes("7b"));
}

TEST(Fixes, what_the_recording_supports_comes_before_what_is_only_worth_a_trial) {
  const std::vector<Knob> knobs = {knob("a", "1", "flag", "--a"), knob("b", "1", "flag", "--b"),
                                   knob("c", "1", "flag", "--c"), knob("words", "1", "", "")};
  std::vector<Fix> fixes = {fix("a", "2"), fix("b", "2"), fix("words", "2"), fix("c", "2")};
  fixes[0].when = "x > 1", fixes[0].note = {"why", "原因"};
  Context context;
  context.knobs = knobs;
  const std::vector<Support> support = {Support::unknown, Support::not_shown, Support::shown, Support::shown};
  const std::vector<SuggestedFix> suggestions = suggest(fixes, context, support);
  std::vector<std::string> order;
  for (const SuggestedFix& one : suggestions) order.push_back(one.knob);
  EXPECT_EQ(order, (std::vector<std::string>{"c", "words", "a", "b"}));
  EXPECT_FALSE(suggestions[0].trial);
  EXPECT_TRUE(suggestions[2].trial);
  EXPECT_EQ(suggestions[2].note.en, "for trial only, the recording cannot tell whether it helps (x > 1): why");
  EXPECT_EQ(suggestions[2].note.zh, "仅供试验，记录无法判断它是否有效（x > 1）：原因");
  EXPECT_NE(suggestions[3].note.en.find("nothing in the recording says"), std::string::npos);
}

TEST(Fixes, values_with_special_characters_are_quoted) {
  const auto fixes = suggested({fix("name", "a'b $(x)")}, {knob("name", "", "environment", "DM_NAME")});
  EXPECT_EQ(fixes[0].command.at("dm-engine"), "DM_NAME='a'\\''b $(x)' dm-engine --model m.gguf");
}

}  // namespace
}  // namespace dmprof::rules
