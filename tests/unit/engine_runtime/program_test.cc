// The program as a caller sees it: what is on standard output, what on standard error, which exit status.
#include "samples/engine/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "samples/engine/cli/output.h"
#include "tests/unit/engine_runtime/tiny_models.h"

namespace dmengine {
namespace {

using testing::HasSubstr;
using testing_models::tiny;

struct Outcome {
  int status = 0;
  std::string out, err;
};

Outcome call(const std::vector<std::string>& args) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome o;
  o.status = run_program(args, [](const char*) -> const char* { return nullptr; });
  std::fflush(stdout);
  o.out = testing::internal::GetCapturedStdout();
  o.err = testing::internal::GetCapturedStderr();
  return o;
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
