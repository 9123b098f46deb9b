// The program as a caller sees it: what is on standard output, what on standard error, which exit status.
#include "samples/engine/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "samples/engine/bench/bench.h"
#include "samples/engine/cli/output.h"
#include "samples/engine/synth/synth.h"
#include "tests/unit/engine_runtime/tiny_models.h"

namespace dmengine {
namespace {

using testing::HasSubstr;
using testing_models::tiny;

struct Outcome {
  int status = 0;
  std::string out, err;
};

template <class Program>
Outcome outcome_of(const Program& program) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome o;
  o.status = program();
  std::fflush(stdout);
  o.out = testing::internal::GetCapturedStdout();
  o.err = testing::internal::GetCapturedStderr();
  return o;
}

Outcome call(const std::vector<std::string>& args, const std::map<std::string, std::string>& variables = {}) {
  return outcome_of([&] {
    return run_program(args, [&variables](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  });
}

void expect_refused(const Outcome& o, int status, const std::string& message) {
  EXPECT_EQ(o.status, status);
  EXPECT_EQ(o.out, "");
  EXPECT_THAT(o.err, HasSubstr(message));
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
}

std::string write_file(const std::string& name, const std::string& content) {
  const std::string path = (tiny().folder / name).string();
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(Program, wrong_usage_is_one_line_and_status_2) {
  expect_refused(call({}), 2, "--model FILE is needed");
  expect_refused(call({"--model", "m", "--prompt", "x", "--lokahead", "2"}), 2, "did you mean --lookahead?");
  expect_refused(call({"--model", tiny().target, "--prompt", "x", "--threads", "many"}), 2, "--threads must be");
}

TEST(Program, bad_input_is_one_line_and_status_4) {
  expect_refused(call({"--model", tiny().folder.string(), "--prompt", "x"}), 4, "directory");
  expect_refused(call({"--model", write_file("empty.gguf", ""), "--prompt", "x"}), 4, "empty.gguf");
  expect_refused(call({"--model", tiny().target, "--prompts", write_file("bad.jsonl", "{\"prompt\":1}")}), 4,
                 "bad.jsonl, line 1");
  expect_refused(call({"--model", tiny().target, "--prompts", write_file("none.jsonl", "")}), 4, "holds no request");
  std::ifstream whole(tiny().target, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  expect_refused(call({"--model", write_file("cut.gguf", bytes.substr(0, bytes.size() / 2)), "--prompt", "x"}), 4,
                 "cut.gguf");
}

TEST(Program, what_the_machine_lacks_is_one_line_and_status_6) {
  expect_refused(call({"--model", "/nonexistent/m.gguf", "--prompt", "x"}), 6, "/nonexistent/m.gguf");
  expect_refused(call({"--model", tiny().target, "--prompts", "/nonexistent/p.jsonl"}), 6, "/nonexistent/p.jsonl");
}

TEST(Program, an_error_about_a_draft_that_a_variable_named_names_the_variable) {
  const std::vector<std::string> args{"--model", tiny().target, "--prompt", "x"};
  expect_refused(call(args, {{"DM_DRAFT", "1b"}}), 6, "DM_DRAFT: cannot open model '1b'");
  expect_refused(call(args, {{"DM_DRAFT", write_file("empty.gguf", "")}}), 4, "DM_DRAFT: ");
  auto typed = args;
  typed.insert(typed.end(), {"--draft", "1b"});
  const Outcome o = call(typed, {{"DM_DRAFT", "2b"}});
  expect_refused(o, 6, "dm-engine: cannot open model '1b'");
}

TEST(Program, a_variable_that_cannot_act_is_one_line_on_standard_error_and_the_run_goes_on) {
  const std::vector<std::string> args{"--model", tiny().target, "--prompt", "abc", "--max-tokens", "4"};
  const Outcome plain = call(args), warned = call(args, {{"DM_CACHE_POLICY", "0"}});
  EXPECT_EQ(warned.status, 0);
  EXPECT_EQ(warned.out, plain.out);
  EXPECT_EQ(plain.err, "");
  EXPECT_THAT(warned.err, testing::StartsWith("dm-engine: warning: DM_CACHE_POLICY has no effect here"));
  EXPECT_EQ(std::count(warned.err.begin(), warned.err.end(), '\n'), 1);
}

TEST(Program, its_other_commands_refuse_wrong_flags_in_the_same_way) {
  const auto synth = [](const std::vector<std::string>& args) { return outcome_of([&] { return synth_main(args); }); };
  expect_refused(synth({"-o", "f"}), 2, "dm-engine synth: --shape NAME is needed; see dm-engine synth --help");
  expect_refused(synth({"--shape", "tiny"}), 2, "--output FILE is needed");
  expect_refused(synth({"--shape"}), 2, "--shape needs a value: --shape NAME");
  expect_refused(synth({"--shpae", "tiny"}), 2, "unknown flag --shpae; did you mean --shape?");
  expect_refused(synth({"--shape", "tiny", "-o", "f", "--output", "g"}), 2, "--output is given more than once");
  expect_refused(synth({"--shape", "tiny", "-o", "f", "--seed", "x"}), 2, "--seed must be a whole number");
  expect_refused(synth({"now"}), 2, "unexpected argument \"now\"");
  const auto bench = [](const std::vector<std::string>& args) { return outcome_of([&] { return bench_main(args); }); };
  expect_refused(bench({}), 2, "dm-engine bench: --model FILE is needed; see dm-engine bench --help");
  expect_refused(bench({"--model", "m", "--threads", "0"}), 2, "--threads must be a whole number from 1 to 1024");
  expect_refused(bench({"--model", "m", "--json=no"}), 2, "--json takes no value");
  expect_refused(bench({"--model", "m", "--model", "n"}), 2, "--model is given more than once; give it once");
  EXPECT_THAT(bench({"--help"}).out, HasSubstr("--most-tokens"));
}

TEST(Program, standard_output_holds_the_text_and_nothing_else) {
  const std::vector<std::string> args{"--model",  tiny().target, "--draft",      tiny().draft,
                                      "--prompt", "abc",         "--max-tokens", "20"};
  const Outcome text = call(args);
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.err, "");
  auto with_json = args;
  with_json.push_back("--json");
  const auto json = nlohmann::json::parse(call(with_json).out);
  EXPECT_EQ(json["text"].get<std::string>() + "\n", text.out);
}

TEST(Program, the_json_object_adds_up) {
  const std::string prompts = write_file(
      "p.jsonl",
      "{\"prompt\":\"abc abc\",\"class\":\"chat\"}\n{\"id\":\"z\",\"prompt\":\"\xc3\xa9\",\"max_tokens\":3}\n");
  const Outcome o = call({"--model", tiny().target, "--draft", tiny().draft, "--prompts", prompts, "--batch", "2",
                          "--max-tokens", "20", "--json"});
  ASSERT_EQ(o.status, 0);
  const auto json = nlohmann::json::parse(o.out);
  EXPECT_FALSE(json.contains("text"));
  ASSERT_EQ(json["requests"].size(), 2U);
  EXPECT_EQ(json["requests"][0]["class"], "chat");
  EXPECT_EQ(json["requests"][1]["id"], "z");
  EXPECT_EQ(json["requests"][1]["output_tokens"], 3);
  EXPECT_EQ(json["counts"]["emitted"], json["requests"][0]["output_tokens"].get<int>() + 3);
  EXPECT_EQ(json["knobs"]["lookahead"], 5);
  // The stages follow one another without a gap; the load came before the run.
  std::int64_t stages = 0;
  for (const auto& [name, value] : json["times"].items()) {
    const bool apart = name == "run_ns" || name == "load_ns" || name == "tokens_per_second" ||
                       name == "path_prediction_ns" || name == "prefetch_scheduling_ns";
    if (!apart) stages += value.get<std::int64_t>();
  }
  EXPECT_NEAR(static_cast<double>(stages), json["times"]["run_ns"].get<double>(),
              0.01 * json["times"]["run_ns"].get<double>());
}

TEST(Program, help_goes_to_standard_output) {
  const Outcome o = call({"--help"});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.out, HasSubstr("--lookahead"));
  EXPECT_EQ(o.err, "");
}

TEST(TextOutput, keeps_the_callers_order_whoever_ends_first) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  TextOutput output(file, 3);
  output.text(2, "c");
  output.text(0, "a");
  output.ended(2);
  output.text(1, "b");
  output.text(0, "A");
  output.ended(0);
  output.text(1, "B");
  output.ended(1);
  EXPECT_TRUE(output.finish());
  std::rewind(file);
  char text[32] = {};
  const std::size_t size = std::fread(text, 1, sizeof text, file);
  EXPECT_EQ(std::string(text, size), "aA\nbB\nc\n");
  std::fclose(file);
}

TEST(TextOutput, a_full_disk_is_reported) {
  std::FILE* file = std::fopen("/dev/full", "w");
  ASSERT_NE(file, nullptr);
  TextOutput output(file, 1);
  output.text(0, "text");
  output.ended(0);
  const Status status = output.finish();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::environment);
  std::fclose(file);
}

}  // namespace
}  // namespace dmengine
