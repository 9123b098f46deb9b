#include "samples/engine/scheduler/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace dmengine {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
  const auto parsed = parse_prompts(text, "p.jsonl", Arrivals::respected);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().kind, dmprof::ErrorKind::bad_input);
  EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
  return parsed.error().message;
}

TEST(Prompts, reads_every_field_and_skips_empty_lines) {
  const auto parsed = parse_prompts(
      "{\"id\":\"a\",\"prompt\":\"x\\u00e9\",\"max_tokens\":7,\"arrival_ms\":1.5,\"class\":\"chat\"}\r\n\n  "
      "\n{\"prompt\":\"\",\"id\":12}",
      "p.jsonl", Arrivals::respected);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 2U);
  EXPECT_EQ((*parsed)[0].id, "a");
  EXPECT_EQ((*parsed)[0].prompt, "x\xc3\xa9");
  EXPECT_EQ((*parsed)[0].max_tokens, 7U);
  EXPECT_EQ((*parsed)[0].arrival_ns, 1500000);
  EXPECT_EQ((*parsed)[0].request_class, "chat");
  EXPECT_EQ((*parsed)[1].id, "12");
}

TEST(Prompts, id_defaults_to_the_lines_number) {
  const auto parsed = parse_prompts("\n{\"prompt\":\"x\"}\n", "p", Arrivals::ignored);
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)[0].id, "2");
}

TEST(Prompts, arrival_times_count_only_in_a_trace) {
  const auto parsed = parse_prompts("{\"prompt\":\"x\",\"arrival_ms\":5}", "p", Arrivals::ignored);
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)[0].arrival_ns, 0);
}

TEST(Prompts, names_the_line_and_the_fault) {
  EXPECT_THAT(error_of("{\"prompt\":\"x\"}\n{\"prompt\":3}"),
              HasSubstr("p.jsonl, line 2: \"prompt\" must be a string"));
  EXPECT_THAT(error_of("{\"prompt\":\"x\""), HasSubstr("line 1: not valid JSON"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of("7"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("\"prompt\" is missing"));
  EXPECT_THAT(error_of("{\"prompt\":\"x\",\"max_token\":3}"), HasSubstr("unknown key \"max_token\""));
  EXPECT_THAT(error_of("{\"prompt\":\"\xff\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of("{\"prompt\":[\"x\"]}"), HasSubstr("not lists or objects"));
  EXPECT_THAT(error_of("{\"prompt\":\"x\",\"id\":1}\n{\"prompt\":\"y\",\"id\":\"1\"}"),
              HasSubstr("line 2: the id \"1\" was used before"));
}

TEST(Prompts, a_key_given_twice_is_refused_whatever_it_is_and_however_it_is_written) {
  for (const char* line : {R"({"prompt":"x","prompt":"y"})", R"({"prompt":"x","prompt":"x"})",
                           R"({"prompt":"x","id":"a","pr\u006fmpt":"y"})"}) {
    EXPECT_THAT(error_of(std::string("{\"prompt\":\"a\"}\n") + line),
                HasSubstr("p.jsonl, line 2: the key \"prompt\" is given twice"))
        << line;
  }
  for (const std::string key : {"id", "max_tokens", "arrival_ms", "class"}) {
    const std::string field = "\"" + key + "\":1";
    EXPECT_THAT(error_of("{\"prompt\":\"x\"," + field + "," + field + "}"),
                HasSubstr("line 1: the key \"" + key + "\" is given twice"));
  }
  EXPECT_TRUE(parse_prompts("{\"prompt\":\"x\"}\n{\"prompt\":\"x\"}", "p", Arrivals::ignored)) << "a line each";
}

TEST(Prompts, a_key_that_would_break_the_message_is_cleaned) {
  const std::string error = error_of("{\"prompt\":\"x\",\"a\\nb" + std::string(100, 'c') + "\":1}");
  EXPECT_THAT(error, HasSubstr("unknown key \"a?bccc"));
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_LT(error.size(), 160U);
}

TEST(Prompts, refuses_numbers_that_would_overflow_or_mean_nothing) {
  for (const char* value : {"0", "-1", "1.5", "99999999999999999999", "1e300", "\"8\"", "null", "true"}) {
    EXPECT_THAT(error_of("{\"prompt\":\"x\",\"max_tokens\":" + std::string(value) + "}"), HasSubstr("max_tokens"))
        << value;
  }
  for (const char* value : {"-1", "1e300", "\"5\"", "null"}) {
    EXPECT_THAT(error_of("{\"prompt\":\"x\",\"arrival_ms\":" + std::string(value) + "}"), HasSubstr("arrival_ms"))
        << value;
  }
}

TEST(Prompts, deep_nesting_is_refused_without_being_built) {
  EXPECT_THAT(error_of("{\"prompt\":" + std::string(1000000, '[')), HasSubstr("not lists or objects"));
  EXPECT_THAT(error_of(std::string(1000000, '[')), HasSubstr("line 1"));
}

TEST(Prompts, an_empty_file_a_directory_and_a_missing_file_each_say_so) {
  EXPECT_THAT(error_of(""), HasSubstr("holds no request"));
  EXPECT_THAT(error_of("\n\n"), HasSubstr("holds no request"));
  const auto directory = read_prompts("/tmp", Arrivals::ignored);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().kind, dmprof::ErrorKind::bad_input);
  EXPECT_THAT(directory.error().message, HasSubstr("is a directory"));
  const auto missing = read_prompts("/nonexistent/p.jsonl", Arrivals::ignored);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, dmprof::ErrorKind::environment);
}

TEST(Prompts, an_overlong_line_is_refused) {
  EXPECT_THAT(error_of("{\"prompt\":\"" + std::string(max_prompt_line_bytes, 'x') + "\"}"), HasSubstr("4 MiB"));
}

}  // namespace
}  // namespace dmengine
