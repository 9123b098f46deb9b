// Traces as files: small ones of our own, and the public ones where somebody put them beside the checkout.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unordered_set>

#include <gmock/gmock.h>

#include "dmprof/workload/trace.h"

namespace dmprof::workload {
namespace {

std::filesystem::path source_dir() { return std::getenv("DMPROF_SOURCE_DIR"); }

Trace own(const char* name) {
  const Result<Trace> trace = read_trace((source_dir() / "tests/data/traces" / name).string());
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
  return trace.value_or(Trace{});
}

// Nearest rank.
std::int64_t percentile(const Trace& trace, std::int64_t Request::*field, std::size_t percent) {
  std::vector<std::int64_t> values;
  for (const Request& request : trace.requests) values.push_back(request.*field);
  std::sort(values.begin(), values.end());
  return values.at((values.size() * percent + 99) / 100 - 1);
}

struct Blocks {
  std::size_t asked = 0, seen_before = 0;
};

// What a cache without end would hit.
Blocks blocks_of(const Trace& trace) {
  Blocks blocks;
  std::unordered_set<std::uint64_t> cache;
  for (const Request& request : trace.requests) {
    for (const std::uint64_t block : request.prefix_blocks) {
      ++blocks.asked;
      if (!cache.insert(block).second) ++blocks.seen_before;
    }
  }
  return blocks;
}

TEST(TraceFiles, CrlfSevenDigitsAndALastLineWithoutEndAreRead) {
  const Trace trace = own("crlf_seven_digits_no_last_newline.csv");
  EXPECT_EQ(trace.format, TraceFormat::azure);
  ASSERT_EQ(trace.requests.size(), 4u);
  EXPECT_EQ(trace.requests[1].arrival_ns, 200);    // across the end of a leap day
  EXPECT_EQ(trace.requests[1].prompt_tokens, 33);  // equal times stay in order
  EXPECT_EQ(trace.requests[1].output_tokens, 1);   // of none asked
  EXPECT_EQ(trace.requests[3].arrival_ns, 1'500'000'100);
  EXPECT_EQ(trace.requests[3].output_tokens, 64);
}

TEST(TraceFiles, SharedPrefixesKeepTheirBlocks) {
  const Trace trace = own("shared_prefixes.jsonl");
  EXPECT_EQ(trace.format, TraceFormat::mooncake);
  ASSERT_EQ(trace.requests.size(), 4u);
  EXPECT_EQ(trace.requests[2].prefix_blocks.front(), std::uint64_t{1} << 32);
  const Blocks blocks = blocks_of(trace);
  EXPECT_EQ(blocks.asked, 10u);
  EXPECT_EQ(blocks.seen_before, 5u);
}

// Published sets are large and have licences of their own: they are read where they lie and never kept here.
Result<Trace> public_trace(const char* name) {
  const std::filesystem::path path = source_dir().parent_path() / "shared/cases/files/llm_traces" / name;
  if (!std::filesystem::exists(path)) return fail(ErrorKind::environment, path.string() + " is not there");
  return read_trace(path.string());
}

TEST(PublicTraces, AzureConversationsOf2023) {
  const Result<Trace> trace = public_trace("AzureLLMInferenceTrace_conv.csv");
  if (!trace && trace.error().kind == ErrorKind::environment) GTEST_SKIP() << trace.error().message;
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->format, TraceFormat::azure);
  EXPECT_EQ(trace->requests.size(), 19'366u);
  EXPECT_EQ(percentile(*trace, &Request::prompt_tokens, 50), 1020);
  EXPECT_EQ(percentile(*trace, &Request::prompt_tokens, 99), 4142);
  EXPECT_EQ(percentile(*trace, &Request::output_tokens, 50), 129);
  EXPECT_EQ(percentile(*trace, &Request::output_tokens, 99), 601);
  EXPECT_EQ(trace->requests.front().arrival_ns, 0);
  EXPECT_EQ(trace->requests[1].arrival_ns, 4'314'579'000);          // 18:15:50.9951690 - 18:15:46.6805900
  EXPECT_EQ(trace->requests.back().arrival_ns, 3'501'721'937'000);  // the line without end: 19:14:08.4025270
  EXPECT_EQ(trace->requests.back().output_tokens, 183);
}

TEST(PublicTraces, MooncakeSynthetic) {
  const Result<Trace> trace = public_trace("mooncake_synthetic_trace.jsonl");
  if (!trace && trace.error().kind == ErrorKind::environment) GTEST_SKIP() << trace.error().message;
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->format, TraceFormat::mooncake);
  EXPECT_EQ(trace->requests.size(), 3'993u);
  const Blocks blocks = blocks_of(*trace);
  EXPECT_EQ(blocks.asked, 121'877u);
  EXPECT_NEAR(static_cast<double>(blocks.seen_before) / static_cast<double>(blocks.asked), 0.6396, 0.00005);
}

}  // namespace
}  // namespace dmprof::workload
