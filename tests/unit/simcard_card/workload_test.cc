// Requests of a card, as scenarios name them: kinds of arrivals, distributions of lengths, traces.
#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>

#include "dmprof/base/description/document.h"
#include "samples/simcard/card/read.h"
#include "tests/unit/simcard_card/cards.h"
#include "tests/unit/simcard_card/recording_observer.h"

namespace dmprof::simcard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/workload_test_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Result<WorkloadParameters> read(const std::string& keys) {
  const Result<Document> document = Document::parse("{" + keys + "}", "w.yaml");
  if (!document) return tl::unexpected(document.error());
  WorkloadParameters workload;
  if (const Status status = read_workload(document->root(), workload); !status) return tl::unexpected(status.error());
  return workload;
}

std::string refusal(const std::string& keys) {
  const Result<WorkloadParameters> workload = read(keys);
  return workload ? "accepted" : workload.error().message;
}

constexpr const char* kAzure =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.00,20,3\n2023-11-16 18:15:46.01,30,4\n"
    "2023-11-16 18:15:46.02,40,5\n";

struct Arrived : KeepingObserver {
  std::vector<std::pair<double, std::uint64_t>> requests;  // seconds, prompt tokens
  void on_request(RequestMoment moment, std::uint64_t, SimTime time, std::uint64_t tokens) override {
    if (moment == RequestMoment::arrive) requests.emplace_back(seconds(time), tokens);
  }
};

TEST(CardWorkload, EveryKindCanBeNamedAndRuns) {
  const std::string mooncake =
      file("m.jsonl", "{\"timestamp\": 0, \"input_length\": 64, \"output_length\": 4, \"hash_ids\": [1]}\n");
  for (const std::string& keys : std::vector<std::string>{
           "arrivals: closed, users: 2, think: 1ms", "arrivals: poisson, rate: 500/s",
           "arrivals: bursty, rate: 500/s, burst_factor: 4, burst_share: 10%, burst_length: 5ms",
           "arrivals: bursts, burst: 3, period: 10ms", "trace: " + mooncake,
           "trace: " + file("a.csv", kAzure) + ", speed: 2",
           "prompt: 64, prompt_lengths: lognormal, prompt_spread: 0.8, output_lengths: uniform, output_least: 2, "
           "output_most: 6"}) {
    const Result<WorkloadParameters> workload = read(keys);
    ASSERT_TRUE(workload) << keys << ": " << workload.error().message;
    CardParameters p = sparse_card();
    p.workload = *workload;
    const RunResult r = run_for(p, 0.2);
    EXPECT_GT(r.card.completed, 0u) << keys;
    EXPECT_EQ(r.card.arrived, r.card.completed + r.in_flight) << keys;
  }
}

TEST(CardWorkload, ATraceArrivesWhenAndAsLongAsItSays) {
  CardParameters p = sparse_card();
  p.workload = *read("trace: " + file("exact.csv", kAzure));
  Arrived observer;
  const RunResult r = run_for(p, 1, 1, &observer);
  EXPECT_EQ(observer.requests, (std::vector<std::pair<double, std::uint64_t>>{{0, 20}, {0.01, 30}, {0.02, 40}}));
  EXPECT_EQ(r.card.emitted, 3u + 4u + 5u);
  EXPECT_EQ(r.card.completed, 3u);
}

TEST(CardWorkload, CardsShareTheRequestsOfATraceAndHaveGeneratedOnesOfTheirOwn) {
  CardParameters p = sparse_card();
  p.workload = *read("trace: " + file("shared.csv", kAzure));
  const RunResult traced = run_for(p, 1, 1, nullptr, 2);
  EXPECT_EQ(traced.card.completed, 3u);
  EXPECT_EQ(traced.card.emitted, 3u + 4u + 5u);
  EXPECT_EQ(run_for(p, 1, 1, nullptr, 5).card.completed, 3u);  // more cards than requests
  p.workload = *read("arrivals: poisson, rate: 100/s");
  const auto gaps = [&](std::uint32_t card) {
    workload::Source source = source_of(p.workload, 1, card, 2);
    return source.next()->arrival_ns;
  };
  EXPECT_NE(gaps(0), gaps(1));
}

TEST(CardWorkload, UsersWhoThinkLeaveTheCardIdle) {
  CardParameters p = sparse_card();
  const RunResult busy = run_for(p, 0.5);
  p.workload.arrivals.think_s = 0.1;
  EXPECT_LT(run_for(p, 0.5).card.completed * 2, busy.card.completed);
}

TEST(CardWorkload, BadInputNamesFileLineAndKey) {
  EXPECT_THAT(refusal("arrivals: seldom"), AllOf(HasSubstr("w.yaml:1: arrivals"), HasSubstr("poisson")));
  EXPECT_THAT(refusal("arrivals: poisson"), AllOf(HasSubstr("w.yaml:1: rate"), HasSubstr("rate of 0")));
  EXPECT_THAT(refusal("arrivals: poisson, users: 3"), AllOf(HasSubstr("w.yaml:1: users"), HasSubstr("rate")));
  EXPECT_THAT(refusal("arrivals: trace"), HasSubstr("w.yaml:1: trace: is missing"));
  EXPECT_THAT(refusal("trace: /nonexistent.csv"),
              AllOf(HasSubstr("w.yaml:1: trace: /nonexistent.csv"), HasSubstr("no such file")));
  EXPECT_THAT(refusal("trace: " + file("ok.csv", kAzure) + ", prompt: 3"), HasSubstr("w.yaml:1: prompt"));
  EXPECT_THAT(refusal("trace: " + file("ok.csv", kAzure) + ", speed: 0"), HasSubstr("speed"));
  EXPECT_THAT(refusal("trace: " + file("ok.csv", kAzure) + ", speed: 0.000001"), HasSubstr("0.001"));
  EXPECT_THAT(refusal("output_lengths: uniform, output_most: 5"), HasSubstr("w.yaml:1: output_lengths"));
  EXPECT_THAT(refusal("prompt: 0"), HasSubstr("w.yaml:1: prompt"));
  EXPECT_THAT(refusal("prompt_most: 99999999999"), HasSubstr("w.yaml:1: prompt_most"));
  EXPECT_THAT(refusal("promt: 3"), AllOf(HasSubstr("w.yaml:1: promt"), HasSubstr("\"prompt\"")));
  const auto traced = [](const char* name, const std::string& text) { return refusal("trace: " + file(name, text)); };
  EXPECT_THAT(traced("empty.csv", ""), AllOf(HasSubstr("empty.csv:1"), HasSubstr("no request")));
  EXPECT_THAT(traced("columns.csv", "TIMESTAMP,Tokens\n"), AllOf(HasSubstr("columns.csv:1: ContextTokens")));
  EXPECT_THAT(traced("long.csv", std::string(kAzure) + "2023-11-16 18:15:47,2000000,1\n"),
              AllOf(HasSubstr("long.csv:5: ContextTokens"), HasSubstr("1048576")));
  EXPECT_THAT(traced("long.jsonl", "{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 2000000}"),
              HasSubstr("long.jsonl:1: output_length"));
}

}  // namespace
}  // namespace dmprof::simcard
