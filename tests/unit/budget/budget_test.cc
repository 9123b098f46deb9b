#include <gtest/gtest.h>

#include "analyzers/budget/budget.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

MetricValue metric(Recording& recording, const std::string& name, const EvaluateOptions& options = {}) {
  Catalogue catalogue;
  register_budget(catalogue);
  return test::value_of(catalogue, recording, name, options);
}

void expect_shares(const MetricValue& value, const std::map<std::string, double>& expected) {
  ASSERT_TRUE(value.ok()) << value.reason;
  double sum = 0;
  for (const Part& part : value.parts) {
    const auto share = expected.find(part.name);
    EXPECT_NEAR(part.value, share == expected.end() ? 0 : share->second, 1e-9) << part.name;
    sum += part.value;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

// Warm-up, then steps of 10 ms: 2 draft, 6 verify, 1 accept, 1 unnamed.
Trace steady(int steps) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < steps; ++i)
    trace.step({.drafted = 4, .accepted = 2, .draft = 2 * ms, .verify = 6 * ms, .accept = 1 * ms});
  return trace;
}

TEST(Budget, stages_of_a_step_and_the_rest_are_divided) {
  Trace trace = steady(5);
  expect_shares(metric(trace.done(), "time_budget"), {{"draft", .2}, {"verify", .6}, {"host", .2}});
  EXPECT_EQ(metric(trace.done(), "time_budget").subject, "verify");
  EXPECT_NEAR(*metric(trace.done(), "compute_occupancy").value, .8, 1e-9);
}

TEST(Budget, waits_for_blocks_are_taken_out_of_draft_and_verify) {
  Trace trace = steady(5);
  for (const Step& step : trace.recording.steps) {
    trace.access(1, 0, AccessOutcome::miss, BlockOrigin::demand, step.start + 1 * ms, 2 * ms,
                 step.step);  // 1 ms of draft, 1 of verify
    trace.access(2, 0, AccessOutcome::late, BlockOrigin::prefetched, step.start + 5 * ms, 2 * ms, step.step);
    trace.access(3, 0, AccessOutcome::miss, BlockOrigin::demand, step.start + 5 * ms, 1 * ms,
                 step.step);  // another worker, same time
  }
  const MetricValue budget = metric(trace.done(), "time_budget");
  expect_shares(budget, {{"draft", .1}, {"verify", .3}, {"memory_stall", .3}, {"prefetch_wait", .1}, {"host", .2}});
  EXPECT_NEAR(*metric(trace.done(), "memory_stall_share").value, .4 / .8, 1e-9);
  EXPECT_NEAR(*metric(trace.done(), "compute_occupancy").value, .8, 1e-9);
  EXPECT_TRUE(budget.part("memory_stall")->critical);
  EXPECT_FALSE(budget.part("idle")->critical);
}

TEST(Budget, only_parts_of_a_step_worth_shortening_are_critical_and_the_largest_of_them_limits) {
  Trace trace;
  trace.warm_up();
  for (std::uint64_t id = 1; id <= 4; ++id) {  // 30 ms of queueing to 10 ms of step
    trace.request(id, RequestPoint::arrive, trace.now);
    trace.now += 30 * ms;
    trace.request(id, RequestPoint::schedule, trace.now);
    trace.step({.draft = 3 * ms, .verify = 6'900'000, .accept = 100'000, .requests = {id}});
    trace.request(id, RequestPoint::end, trace.now);
  }
  const MetricValue value = metric(trace.done(), "time_budget");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_GT(value.part("queue")->value, .7);
  EXPECT_FALSE(value.part("queue")->critical);
  EXPECT_EQ(value.subject, "verify");
  EXPECT_TRUE(value.part("verify")->critical && value.part("draft")->critical);
  EXPECT_GT(value.part("host")->value, 0);
  EXPECT_FALSE(value.part("host")->critical) << "0.25 % is not worth anybody's work";
  for (const Part& part : value.parts) EXPECT_TRUE(!part.critical || part.value >= .005) << part.name;
}

TEST(Budget, a_transfer_counts_only_where_nothing_else_runs) {
  Trace trace = steady(4);
  for (const Step& step : trace.recording.steps) {
    Transfer transfer;
    transfer.start = step.start + 5 * ms, transfer.duration = 5 * ms;  // hidden behind verify and accept, then exposed
    trace.recording.transfers.push_back(transfer);
  }
  const MetricValue budget = metric(trace.done(), "time_budget");
  expect_shares(budget, {{"draft", .2}, {"verify", .6}, {"host", .1}, {"transfer", .1}});
  EXPECT_NEAR(budget.beside.at(0).value, .4, 1e-9);
}

// 40 ms between steps of 10 ms, and a transfer all the while.
Trace transfers_in_pauses() {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    trace.now += 40 * ms;
    trace.step({.verify = 10 * ms});
  }
  Transfer transfer;
  transfer.start = 0, transfer.duration = trace.now;
  trace.recording.transfers.push_back(transfer);
  return trace;
}

TEST(Budget, a_transfer_in_a_pause_with_nobody_there_is_idle_and_never_critical) {
  Trace trace = transfers_in_pauses();
  trace.request(9, RequestPoint::arrive, 0);
  trace.request(9, RequestPoint::end, 1);
  const MetricValue budget = metric(trace.done(), "time_budget");
  expect_shares(budget, {{"verify", .2}, {"idle", .8}});
  EXPECT_EQ(budget.subject, "verify");
  EXPECT_FALSE(budget.part("transfer")->critical);
  EXPECT_NEAR(budget.beside.at(0).value, .2, 1e-9) << "it hides behind the steps and not behind the pauses";
}

TEST(Budget, a_transfer_in_a_pause_leaves_it_to_who_waits_or_is_served) {
  Trace waiting = transfers_in_pauses();
  waiting.request(9, RequestPoint::arrive, 0);
  expect_shares(metric(waiting.done(), "time_budget"), {{"verify", .2}, {"queue", .8}});
  Trace served = transfers_in_pauses();
  served.request(9, RequestPoint::arrive, 0);
  served.request(9, RequestPoint::schedule, 0);
  expect_shares(metric(served.done(), "time_budget"), {{"verify", .2}, {"host", .8}});
}

TEST(Budget, a_transfer_that_is_waited_for_is_not_hidden) {
  Trace trace = steady(4);
  for (const Step& step : trace.recording.steps) {
    Transfer transfer;
    transfer.start = step.start + 2 * ms, transfer.duration = 5 * ms;
    trace.recording.transfers.push_back(transfer);
    trace.access(1, 0, AccessOutcome::miss, BlockOrigin::demand, step.start + 2 * ms, 2 * ms, step.step);
    trace.access(2, 0, AccessOutcome::late, BlockOrigin::prefetched, step.start + 4 * ms, 1 * ms, step.step);
  }
  // 5 ms of transfer a step: 3 are waited for, 2 run behind verification.
  EXPECT_NEAR(metric(trace.done(), "time_budget").beside.at(0).value, .2, 1e-9);
  trace.recording.transfers.clear();
  EXPECT_EQ(metric(trace.done(), "time_budget").beside.at(0).value, 0);
}

TEST(Budget, shares_have_intervals_over_steps_that_hold_them) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 200; ++i) {
    const TimeNs draft = (1 + i % 3) * ms;
    trace.step({.drafted = 4, .accepted = 2, .draft = draft, .verify = 9 * ms - draft});
    trace.now += 5 * ms;
  }
  const MetricValue value = metric(trace.done(), "time_budget");
  for (const Part& part : value.parts) {
    ASSERT_TRUE(part.interval) << part.name;
    EXPECT_LE(part.interval->low, part.value + 1e-9) << part.name;
    EXPECT_GE(part.interval->high, part.value - 1e-9) << part.name;
  }
  EXPECT_LT(value.part("draft")->interval->low, value.part("draft")->interval->high);
  EXPECT_LT(value.part("draft")->interval->high - value.part("draft")->interval->low, .05);
  ASSERT_TRUE(metric(trace.done(), "compute_occupancy").interval);
}

TEST(Budget, a_pause_is_queue_host_or_idle_by_who_is_there) {
  Trace trace;
  trace.warm_up();
  trace.request(1, RequestPoint::arrive, 0);
  trace.request(1, RequestPoint::schedule, 0);
  trace.step({});        // 10..20
  trace.now += 10 * ms;  // 20..30 request 1 is served: host
  trace.step({});        // 30..40
  trace.request(1, RequestPoint::end, 40 * ms);
  trace.now += 10 * ms;  // 40..50 nobody: idle
  trace.request(2, RequestPoint::arrive, 50 * ms);
  trace.now += 10 * ms;  // 50..60 request 2 waits: queue
  trace.request(2, RequestPoint::schedule, 60 * ms);
  trace.step({.requests = {2}});  // 60..70
  expect_shares(metric(trace.done(), "time_budget"),
                {{"verify", 3.0 / 6}, {"host", 1.0 / 6}, {"idle", 1.0 / 6}, {"queue", 1.0 / 6}});
}

TEST(Budget, slices_say_where_the_stages_lie) {
  Trace trace;
  trace.recording.names = {{1, "candidate_generation"}, {2, "verification"}, {3, "prefetch_scheduling"}};
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    const TimeNs start = trace.now;
    const std::uint64_t step = trace.step({.drafted = 4, .accepted = 2, .draft = 3 * ms, .verify = 5 * ms});
    const auto slice = [&](NameId name, TimeNs begin, TimeNs length) {
      Slice event;
      event.track = 1, event.start = start + begin, event.duration = length, event.name = name, event.step = step;
      trace.recording.slices.push_back(event);
    };
    slice(3, 0, 2 * ms);
    slice(1, 2 * ms, 3 * ms);
    slice(2, 5 * ms, 5 * ms);
    // A wait while prefetches are scheduled is no wait of the computation.
    trace.access(1, 0, AccessOutcome::miss, BlockOrigin::demand, start + 6 * ms, 2 * ms, step);
  }
  expect_shares(metric(trace.done(), "time_budget"),
                {{"draft", .3}, {"verify", .3}, {"memory_stall", .2}, {"host", .2}});
  EXPECT_NEAR(*metric(trace.done(), "memory_stall_share").value, .2 / .8, 1e-9);
}

TEST(Budget, prefill_and_baseline_steps_are_not_in_it) {
  Trace trace = steady(3);
  trace.step({.duration = 500 * ms, .phase = Phase::prefill});
  trace.step({.duration = 100 * ms, .verify = 100 * ms, .cut = StepCut::baseline});
  trace.step({.drafted = 4, .accepted = 2, .draft = 2 * ms, .verify = 6 * ms, .accept = 1 * ms});
  expect_shares(metric(trace.done(), "time_budget"), {{"draft", .2}, {"verify", .6}, {"host", .2}});
}

TEST(Budget, two_cards_share_one_wall_time) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 4; ++i) trace.step({});
  Step other = trace.recording.steps[1];
  other.track = 2, other.step = 77, other.duration = other.verify_time = 40 * ms;
  trace.recording.steps.push_back(other);
  const MetricValue value = metric(trace.done(), "compute_occupancy");
  EXPECT_NEAR(*value.value, 1, 1e-9);
  for (Step& step : trace.recording.steps) step.verify_time = step.track == 2 ? 20 * ms : step.verify_time;
  EXPECT_NEAR(*metric(trace.done(), "compute_occupancy").value, .75, 1e-9);
}

TEST(Budget, sums_to_one_however_the_events_overlap) {
  Trace trace;
  trace.warm_up();
  std::uint64_t random = 7;
  const auto draw = [&](std::uint64_t below) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<TimeNs>((random >> 33) % below);
  };
  for (int i = 0; i < 200; ++i) {
    const TimeNs start = trace.now;
    const std::uint64_t step = trace.step(
        {.duration = 1 * ms + draw(10 * ms), .draft = draw(5 * ms), .verify = draw(20 * ms), .accept = draw(3 * ms)});
    for (int k = 0; k < 5; ++k) {
      trace.access(1, 0, k % 2 == 0 ? AccessOutcome::miss : AccessOutcome::late, BlockOrigin::demand,
                   start + draw(12 * ms), draw(4 * ms), step);
    }
    Transfer transfer;
    transfer.start = start + draw(12 * ms), transfer.duration = draw(9 * ms);
    trace.recording.transfers.push_back(transfer);
    trace.now += draw(3 * ms);
  }
  const MetricValue value = metric(trace.done(), "time_budget");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_NEAR(*value.value, 1, 1e-9);
  EXPECT_TRUE(metric(trace.done(), "memory_stall_share").ok());
}

TEST(Budget, without_steps_or_accesses_it_is_unavailable) {
  Recording empty;
  for (const char* name : {"time_budget", "compute_occupancy", "memory_stall_share"}) {
    EXPECT_EQ(metric(empty, name).status, ValueStatus::unavailable) << name;
  }
  Trace trace = steady(4);
  EXPECT_EQ(metric(trace.done(), "memory_stall_share").status, ValueStatus::unavailable);
  EXPECT_NE(metric(trace.done(), "time_budget").reason.find("without block accesses"), std::string::npos);
}

}  // namespace
}  // namespace dmprof
