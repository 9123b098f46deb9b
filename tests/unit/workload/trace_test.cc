#include "dmprof/workload/trace.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "dmprof/workload/arrivals.h"

namespace dmprof::workload {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string azure_header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

Result<Trace> azure(const std::string& text) {
  std::istringstream in(text);
  return read_azure(in, "a.csv");
}

Result<Trace> mooncake(const std::string& text) {
  std::istringstream in(text);
  return read_mooncake(in, "m.jsonl");
}

std::string complaint(const Result<Trace>& read) {
  EXPECT_FALSE(read);
  return read ? "" : read.error().message;
}

TEST(AzureTrace, YearsAndLineEndsOfAllReleasesAreRead) {
  const auto old = azure(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 23:59:59.6805900,374,44\r\n2023-11-17 "
      "00:00:00.9951690,396,109");
  ASSERT_TRUE(old) << old.error().message;
  ASSERT_EQ(old->requests.size(), 2u);
  EXPECT_EQ(old->requests[0].arrival_ns, 0);
  EXPECT_EQ(old->requests[1].arrival_ns, 1'314'579'000);
  EXPECT_EQ(old->requests[0].prompt_tokens, 374);
  EXPECT_EQ(old->requests[1].output_tokens, 109);
  const auto later = azure(azure_header + "2024-05-10 00:00:00+00:00,1,2\n2024-05-10 01:00:00.5+01:00,3,4\n");
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(later->requests[1].arrival_ns, 500'000'000);
  const auto images = azure("TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-15 00:00:00,3,10,20\n");
  ASSERT_TRUE(images);
  EXPECT_EQ(images->requests[0].prompt_tokens, 10);
}

TEST(AzureTrace, LinesOutOfOrderAreSortedAndLeapDaysCount) {
  const auto trace = azure(azure_header + "2024-03-01 00:00:00,1,1\n2024-02-28 00:00:00,2,2\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->requests[0].prompt_tokens, 2);
  EXPECT_EQ(trace->requests[1].arrival_ns, 2LL * 86400 * 1'000'000'000);
}

TEST(AzureTrace, HostileLinesNameFileLineAndField) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, const char*>>{
           {"", "a.csv:1: the trace holds no request"},
           {azure_header, "a.csv:1: the trace holds no request"},
           {"TIME,ContextTokens,GeneratedTokens\n", "a.csv:1: TIMESTAMP: no such column"},
           {azure_header + "2023-11-16 18:15:46,1\n", "a.csv:2: line: has 2 fields"},
           {azure_header + "\n2023-11-16 18:15:46,1,2,3\n", "a.csv:3: line: has 4 fields"},
           {azure_header + "yesterday,1,2\n", "a.csv:2: TIMESTAMP: not a time"},
           {azure_header + "2023-13-16 18:15:46,1,2\n", "a.csv:2: TIMESTAMP"},
           {azure_header + "2023-11-16 18:15:46.,1,2\n", "a.csv:2: TIMESTAMP"},
           {azure_header + "2023-11-16 18:15:46+99:00,1,2\n", "a.csv:2: TIMESTAMP"},
           {azure_header + "2023-11-16 18:15:46,-1,2\n", "a.csv:2: ContextTokens"},
           {azure_header + "2023-11-16 18:15:46,1,99999999999999999999\n", "a.csv:2: GeneratedTokens"},
           {azure_header + "2023-11-16 18:15:46,1,2.5\n", "a.csv:2: GeneratedTokens"},
           {azure_header + "2023-11-16 18:15:46,1 ,2\n", "a.csv:2: ContextTokens"},
           {azure_header + std::string(5 << 20, '7'), "a.csv:2: line: longer than 4 MiB"}}) {
    EXPECT_THAT(complaint(azure(text)), StartsWith(expected));
  }
}

TEST(MooncakeTrace, RequestsAndPrefixBlocksAreRead) {
  const auto trace = mooncake(
      "{\"timestamp\": 27.5, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [0, 1, 2], \"extra\": {}}\n"
      "{\"timestamp\": 0, \"input_length\": 0, \"output_length\": 0}\n");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->requests.size(), 2u);
  EXPECT_EQ(trace->requests[0].output_tokens, 1);
  EXPECT_EQ(trace->requests[1].arrival_ns, 27'500'000);
  EXPECT_THAT(trace->requests[1].prefix_blocks, testing::ElementsAre(0, 1, 2));
}

TEST(MooncakeTrace, HostileLinesNameFileLineAndField) {
  const std::string good = "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1}\n";
  for (const auto& [text, expected] : std::vector<std::pair<std::string, const char*>>{
           {"", "m.jsonl:1: the trace holds no request"},
           {good + "nonsense\n", "m.jsonl:2: line: not a JSON object"},
           {good + "[1]\n", "m.jsonl:2: line"},
           {good + "{\"timestamp\": 1", "m.jsonl:2: line"},
           {"{\"input_length\": 1, \"output_length\": 1}", "m.jsonl:1: timestamp"},
           {"{\"timestamp\": -1, \"input_length\": 1, \"output_length\": 1}", "m.jsonl:1: timestamp"},
           {"{\"timestamp\": 1e300, \"input_length\": 1, \"output_length\": 1}", "m.jsonl:1: timestamp"},
           {"{\"timestamp\": 1, \"input_length\": \"9\", \"output_length\": 1}", "m.jsonl:1: input_length"},
           {"{\"timestamp\": 1, \"input_length\": true, \"output_length\": 1}", "m.jsonl:1: input_length"},
           {"{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1.5}", "m.jsonl:1: output_length"},
           {"{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1e99}", "m.jsonl:1: output_length"},
           {"{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": 3}", "m.jsonl:1: hash_ids"},
           {"{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [-3]}", "m.jsonl:1: hash_ids"},
           {"{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [[]]}", "m.jsonl:1: hash_ids"},
           {std::string(1000000, '['), "m.jsonl:1: line"},
           {std::string("\0\xff\xfe", 3), "m.jsonl:1: line"}}) {
    EXPECT_THAT(complaint(mooncake(text)), StartsWith(expected));
  }
}

TEST(Trace, MissingFileIsAnErrorOfTheEnvironment) {
  const auto trace = read_trace("/nonexistent.csv");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().kind, ErrorKind::environment);
}

TEST(Trace, TheFormatIsRecognisedBehindBlankLinesAndAnArrayIsNone) {
  const std::string path = testing::TempDir() + "/dmprof-recognised";
  const auto read = [&](const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
    return read_trace(path);
  };
  const auto lines = read("\n \n{\"timestamp\": 1, \"input_length\": 2, \"output_length\": 3}\n");
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(lines->format, TraceFormat::mooncake);
  const auto table = read("\r\n" + azure_header + "2023-11-16 18:15:40,1,2\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->format, TraceFormat::azure);
  EXPECT_THAT(complaint(read("[]\n")), testing::HasSubstr("a JSON array; write one request"));
  EXPECT_THAT(complaint(read("")), testing::HasSubstr("holds no request"));
  std::remove(path.c_str());
}

TEST(Trace, ASourceReplaysItAtAnotherSpeed) {
  const auto trace = azure(azure_header + "2023-11-16 18:15:40,1,2\n2023-11-16 18:15:50,3,4\n");
  ASSERT_TRUE(trace);
  Source source(trace->requests, 10);
  EXPECT_EQ(source.next()->arrival_ns, 0);
  EXPECT_EQ(source.next()->arrival_ns, 1'000'000'000);
  EXPECT_FALSE(source.next());
}

}  // namespace
}  // namespace dmprof::workload
