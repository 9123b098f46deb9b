#include "samples/engine/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "samples/engine/cli/units.h"

namespace dmengine {
namespace {

using testing::HasSubstr;

dmprof::Result<CommandLine> parse(std::vector<std::string> args,
                                  const std::map<std::string, std::string>& variables = {}) {
  return parse_command_line(args, [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string error_of(std::vector<std::string> args, const std::map<std::string, std::string>& variables = {}) {
  const auto parsed = parse(std::move(args), variables);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().kind, dmprof::ErrorKind::usage);
  EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos) << parsed.error().message;
  return parsed.error().message;
}

TEST(CommandLine, a_flag_beats_its_variable_and_the_variable_beats_the_default) {
  const std::vector<std::string> base{"--model", "m", "--prompt", "x"};
  EXPECT_EQ(parse(base)->settings.lookahead, 5U);
  const std::map<std::string, std::string> variables{
      {"DM_LOOKAHEAD", "8"}, {"DM_CACHE_POLICY", "1"}, {"DM_MAX_CONCURRENT", "3"}, {"DM_DRAFT", "d.gguf"}};
  const auto from_variables = parse(base, variables);
  ASSERT_TRUE(from_variables);
  EXPECT_EQ(from_variables->settings.lookahead, 8U);
  EXPECT_EQ(from_variables->settings.cache_policy, 1U);
  EXPECT_EQ(from_variables->settings.max_concurrent, 3U);
  EXPECT_EQ(from_variables->settings.draft, "d.gguf");
  EXPECT_EQ(from_variables->settings.draft_variable, "DM_DRAFT");
  EXPECT_FALSE(from_variables->settings.flags.contains("--lookahead"));
  auto args = base;
  args.insert(args.end(), {"--lookahead", "2", "--cache-policy=0", "--resident", "1MiB", "--max-concurrent", "4",
                           "--batch", "4", "--draft", "e.gguf"});
  const auto from_flags = parse(args, variables);
  ASSERT_TRUE(from_flags);
  EXPECT_EQ(from_flags->settings.lookahead, 2U);
  EXPECT_EQ(from_flags->settings.cache_policy, 0U);
  EXPECT_EQ(from_flags->settings.max_concurrent, 4U);
  EXPECT_EQ(from_flags->settings.draft, "e.gguf");
  EXPECT_EQ(from_flags->settings.draft_variable, "");
  EXPECT_TRUE(from_flags->settings.flags.contains("--lookahead"));
}

TEST(CommandLine, the_draft_can_be_switched_off_in_every_way) {
  const std::vector<std::string> base{"--model", "m", "--prompt", "x"};
  EXPECT_FALSE(parse(base, {{"DM_DRAFT", ""}})->settings.speculates());
  EXPECT_FALSE(parse(base, {{"DM_DRAFT", "none"}})->settings.speculates());
  EXPECT_FALSE(parse({"--model", "m", "--prompt", "x", "--draft", "none"}, {{"DM_DRAFT", "d"}})->settings.speculates());
  EXPECT_FALSE(
      parse({"--model", "m", "--prompt", "x", "--lookahead", "0"}, {{"DM_DRAFT", "d"}})->settings.speculates());
  const auto ngram = parse({"--model", "m", "--prompt", "x", "--draft-ngram"}, {{"DM_DRAFT", "d"}});
  EXPECT_TRUE(ngram->settings.draft_ngram);
  EXPECT_TRUE(ngram->settings.draft.empty());
  EXPECT_TRUE(parse(base, {{"DM_DRAFT", "ngram"}})->settings.draft_ngram);
}

TEST(CommandLine, one_prompt_source_is_needed) {
  EXPECT_THAT(error_of({"--model", "m"}), HasSubstr("a prompt is needed"));
  EXPECT_EQ(error_of({"--model", "m", "--prompt", "x", "--trace", "t"}),
            "--prompt and --trace exclude each other; give one of them");
  EXPECT_EQ(error_of({"--model", "m", "--prompts", "x", "--prompt-file", "t"}),
            "--prompt-file and --prompts exclude each other; give one of them");
  EXPECT_EQ(error_of({"--model", "m", "--prompt", "x", "--draft", "d", "--draft-ngram"}),
            "--draft and --draft-ngram exclude each other; give one of them");
  const auto trace = parse({"--model", "m", "--trace", "t.jsonl"});
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->source, PromptSource::trace);
  EXPECT_EQ(trace->prompt, "t.jsonl");
  EXPECT_EQ(parse({"--model", "m", "--prompt-file", "-"})->prompt, "-");
  EXPECT_EQ(parse({"--model", "m", "--prompt", ""})->prompt, "");
}

TEST(CommandLine, a_misspelt_flag_is_named_with_the_nearest_one) {
  EXPECT_THAT(error_of({"--model", "m", "--prompt", "x", "--lookahed", "3"}),
              HasSubstr("unknown flag --lookahed (did you mean --lookahead?)"));
  EXPECT_THAT(error_of({"--model", "m", "--prompt", "x", "--zzzzzz"}),
              HasSubstr("unknown flag --zzzzzz; see dm-engine --help"));
  EXPECT_THAT(error_of({"generate"}), HasSubstr("unexpected argument \"generate\""));
  for (const char* word : {"", "-", "--"}) EXPECT_THAT(error_of({word}), HasSubstr("unexpected argument")) << word;
  EXPECT_THAT(error_of({"--promt\na=3"}), testing::StartsWith("unknown flag --promt?a (did you mean --prompt?); "));
  EXPECT_EQ(error_of({"-x"}), "unknown flag -x; see dm-engine --help");
}

TEST(CommandLine, a_flag_given_twice_is_named) {
  const std::vector<std::string> base{"--model", "m", "--prompt", "x"};
  const std::vector<std::vector<std::string>> pairs{{"--max-tokens", "8", "--max-tokens", "0"},
                                                    {"--max-tokens=8", "--max-tokens=8"},
                                                    {"--model=n"},
                                                    {"--json", "--json"},
                                                    {"--draft", "a", "--draft", "b"},
                                                    {"--prompt", "x"}};
  for (const auto& added : pairs) {
    auto args = base;
    args.insert(args.end(), added.begin(), added.end());
    const std::string flag = added[0].substr(0, added[0].find('='));
    EXPECT_EQ(error_of(args), flag + " is given more than once; give it once");
  }
}

TEST(CommandLine, a_flag_without_its_value_or_with_one_too_many_is_named) {
  const std::vector<std::string> base{"--model", "m", "--prompt", "x"};
  const auto with = [&base](std::vector<std::string> added) {
    added.insert(added.begin(), base.begin(), base.end());
    return error_of(added);
  };
  EXPECT_EQ(with({"--lookahead"}), "--lookahead needs a value: --lookahead N");
  EXPECT_THAT(with({"--lookahead="}), HasSubstr("--lookahead must be a whole number"));
  EXPECT_EQ(with({"--backing="}), "--backing needs a value: --backing HOW");
  EXPECT_EQ(with({"--draft", "--json"}),
            "--draft needs a value, and --json is a flag; write --draft=--json if that is the value");
  EXPECT_THAT(with({"--draft", "--lookahead=3"}), HasSubstr("--draft needs a value, and --lookahead is a flag"));
  EXPECT_EQ(with({"--json=false"}), "--json takes no value; leave \"=false\" out");
  EXPECT_EQ(with({"--draft-ngram=1"}), "--draft-ngram takes no value; leave \"=1\" out");
  EXPECT_EQ(with({"--help=3"}), "--help takes no value; leave \"=3\" out");
  EXPECT_EQ(parse({"--model", "m", "--prompt=--json"})->prompt, "--json");
  EXPECT_EQ(parse({"--model", "m", "--prompt", "- a list"})->prompt, "- a list");
}

TEST(CommandLine, a_flag_that_cannot_act_says_what_is_missing) {
  const std::vector<std::string> base{"--model", "m", "--prompt", "x"};
  const auto with = [&base](std::vector<std::string> added) {
    added.insert(added.begin(), base.begin(), base.end());
    return added;
  };
  for (const char* flag : {"--cache-policy=0", "--prefetch-distance=0", "--backing=file", "--save-transitions=t",
                           "--load-transitions=t"}) {
    const std::string name(flag, std::string(flag).find('='));
    EXPECT_EQ(error_of(with({flag})),
              name + " needs --resident SIZE: without it all weights stay in memory and nothing is streamed");
    EXPECT_TRUE(parse(with({flag, "--resident", "1MiB"}))) << flag;
  }
  for (const char* flag : {"--lookahead=3", "--baseline-every=8"}) {
    EXPECT_THAT(error_of(with({flag})), HasSubstr(" needs a draft (--draft FILE or --draft-ngram)")) << flag;
    EXPECT_TRUE(parse(with({flag, "--draft-ngram"}))) << flag;
    EXPECT_TRUE(parse(with({flag}), {{"DM_DRAFT", "d"}})) << flag;
    EXPECT_TRUE(parse(with({flag, "--draft", "none"}))) << "switched off on purpose: " << flag;
  }
  EXPECT_TRUE(parse(with({"--lookahead", "0"}))) << "no speculation is what happens";
  for (const char* flag : {"--top-p=0.9", "--seed=7"}) {
    EXPECT_THAT(error_of(with({flag})), HasSubstr(" needs --temperature T")) << flag;
    EXPECT_TRUE(parse(with({flag, "--temperature", "0.8"}))) << flag;
  }
  EXPECT_THAT(error_of(with({"--max-concurrent", "4"})), HasSubstr("--max-concurrent needs --batch B"));
}

TEST(CommandLine, a_variable_that_cannot_act_is_a_warning_that_names_it) {
  const std::vector<std::string> base{"--model", "m", "--prompt", "x"};
  const std::map<std::string, std::string> variables{
      {"DM_LOOKAHEAD", "8"}, {"DM_CACHE_POLICY", "1"}, {"DM_MAX_CONCURRENT", "3"}};
  const auto parsed = parse(base, variables);
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->warnings,
              testing::ElementsAre(HasSubstr("DM_LOOKAHEAD has no effect here, it needs a draft"),
                                   HasSubstr("DM_CACHE_POLICY has no effect here, it needs --resident SIZE"),
                                   HasSubstr("DM_MAX_CONCURRENT has no effect here, it needs --batch B")));
  auto acting = base;
  acting.insert(acting.end(), {"--draft", "d", "--resident", "1MiB", "--batch", "4"});
  EXPECT_TRUE(parse(acting, variables)->warnings.empty());
  EXPECT_TRUE(
      parse(base, {{"DM_LOOKAHEAD", "0"}, {"DM_MAX_CONCURRENT", "1"}, {"DM_CACHE_POLICY", ""}})->warnings.empty());
}

TEST(CommandLine, a_wrong_value_names_its_flag_or_variable) {
  const std::vector<std::string> base{"--model", "m", "--prompt", "x"};
  const auto with = [&base](const std::string& flag, const std::string& value) {
    auto args = base;
    args.push_back(flag);
    args.push_back(value);
    return error_of(args);
  };
  EXPECT_THAT(with("--lookahead", "33"), HasSubstr("--lookahead must be a whole number from 0 to 32, not \"33\""));
  EXPECT_THAT(with("--lookahead", "-1"), HasSubstr("--lookahead"));
  EXPECT_THAT(with("--seed", "99999999999999999999999"), HasSubstr("--seed"));
  EXPECT_THAT(with("--temperature", "nan"), HasSubstr("--temperature"));
  EXPECT_THAT(with("--top-p", "0"), HasSubstr("--top-p"));
  EXPECT_THAT(with("--batch", "0"), HasSubstr("--batch"));
  EXPECT_THAT(with("--kv-type", "q4"), HasSubstr("f16 or f32"));
  EXPECT_THAT(with("--resident", "8XB"), HasSubstr("--resident must be a size"));
  EXPECT_THAT(with("--draft", ""), HasSubstr("--draft"));
  EXPECT_THAT(error_of({"--model"}), HasSubstr("--model"));
  EXPECT_THAT(error_of({"--prompt", "x"}), HasSubstr("--model FILE is needed"));
  EXPECT_THAT(error_of(base, {{"DM_LOOKAHEAD", "many"}}), HasSubstr("DM_LOOKAHEAD must be a whole number"));
  EXPECT_THAT(error_of(base, {{"DM_CACHE_POLICY", "3"}}), HasSubstr("DM_CACHE_POLICY must be a whole number"));
  EXPECT_THAT(error_of(base, {{"DM_MAX_CONCURRENT", "-1"}}), HasSubstr("DM_MAX_CONCURRENT must be a whole number"));
}

TEST(CommandLine, help_lists_every_flag_of_the_contract) {
  const auto help = parse({"--help"});
  ASSERT_TRUE(help);
  for (const char* flag :
       {"--model",        "--draft",          "--draft-ngram",    "--lookahead",   "--prompt", "--prompt-file",
        "--prompts",      "--trace",          "--max-tokens",     "--temperature", "--top-p",  "--seed",
        "--batch",        "--threads",        "--resident",       "--backing",     "--json",   "--prefetch-distance",
        "--cache-policy", "--max-concurrent", "--baseline-every", "DM_LOOKAHEAD"}) {
    EXPECT_THAT(help->answer, HasSubstr(flag));
  }
  EXPECT_THAT(parse({"--version"})->answer, HasSubstr("dm-engine "));
}

TEST(Sizes, are_read_in_both_families_of_units) {
  EXPECT_EQ(*parse_size("x", "8MiB"), 8388608U);
  EXPECT_EQ(*parse_size("x", "1.5kB"), 1500U);
  EXPECT_EQ(*parse_size("x", "4096"), 4096U);
  EXPECT_EQ(*parse_size("x", "0"), 0U);
  EXPECT_EQ(*parse_size("x", "2GB"), 2000000000U);
  for (const char* wrong : {"", "MiB", "-1MiB", "8Mi", "8 MiB", "1e30GiB", "nan", "inf", "99999999999999999999GiB"}) {
    EXPECT_FALSE(parse_size("x", wrong)) << wrong;
  }
}

}  // namespace
}  // namespace dmengine
