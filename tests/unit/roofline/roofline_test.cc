#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzers/roofline/roofline.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

MetricValue metric(Recording& recording, const std::string& name, const EvaluateOptions& options = {}) {
  Catalogue catalogue;
  register_roofline(catalogue);
  return test::value_of(catalogue, recording, name, options);
}

// Four decode steps of 10 ms that each move 2,000,000 B over 5 ms from a tier of 1 GB/s, 1,500,000 of them asked for.
Trace streaming() {
  Trace trace;
  const TierId resident = trace.tier("resident", 0, true, 0);
  const TierId backing = trace.tier("backing", 2, false, 1e9);
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    Transfer transfer;
    transfer.track = 1, transfer.start = trace.now, transfer.duration = 5 * ms, transfer.from = backing,
    transfer.to = resident;
    transfer.bytes = 2'000'000, transfer.useful_bytes = 1'500'000, transfer.queue_depth = 1;
    trace.recording.transfers.push_back(transfer);
    trace.step({.parameter_bytes = 9'000'000, .kv_bytes = 1'000'000, .flops = 40'000'000});
  }
  return trace;
}

void calibrate(Trace& trace, const char* bandwidth, const char* flops) {
  trace.recording.environment["calibration.read_bandwidth"] = bandwidth;
  trace.recording.environment["calibration.flops"] = flops;
  trace.recording.environment["cpu.llc_bytes"] = "1000000";
  trace.recording.environment["cpu.llc_instances"] = "2";
}

TEST(Roofline, bandwidth_is_of_the_slowest_tier_that_served_and_names_it) {
  Trace trace = streaming();
  const MetricValue value = metric(trace.done(), "bandwidth_utilization");
  EXPECT_NEAR(*value.value, 8e6 / (.04 * 1e9), 1e-9);
  EXPECT_EQ(value.subject, "backing");
  EXPECT_NEAR(*metric(trace.done(), "useful_byte_share").value, .75, 1e-12);
}

TEST(Roofline, a_bandwidth_that_was_configured_is_not_called_measured) {
  Trace trace = streaming();
  calibrate(trace, "1e10", "1e12");
  const auto figure = [](const MetricValue& value, const std::string& name) {
    return std::any_of(value.beside.begin(), value.beside.end(), [&](const Beside& b) { return b.name == name; });
  };
  EXPECT_TRUE(figure(metric(trace.done(), "bandwidth_utilization"), "measured bandwidth"));
  EXPECT_EQ(metric(trace.done(), "bandwidth_utilization").reason, "");
  trace.recording.capacities[2].datasheet_bandwidth = 2e9;  // a datasheet beside a measurement is no configuration
  EXPECT_EQ(metric(trace.done(), "bandwidth_utilization").reason, "");
  trace.recording.capacities[2].datasheet_bandwidth = 1e9;
  const MetricValue value = metric(trace.done(), "bandwidth_utilization");
  EXPECT_TRUE(figure(value, "configured bandwidth"));
  EXPECT_FALSE(figure(value, "measured bandwidth"));
  for (const char* name : {"bandwidth_utilization", "step_time_over_roofline", "ridge_point"})
    EXPECT_NE(metric(trace.done(), name).reason.find("not a measurement"), std::string::npos) << name;
  // What the recorded transfers reached stands beside it: 2 MB in 5 ms.
  for (const Beside& beside : value.beside) {
    if (beside.name == "while a transfer ran") {
      EXPECT_NEAR(beside.value, 4e8, 1);
    }
  }
}

TEST(Roofline, bytes_outside_the_window_do_not_count) {
  Trace trace = streaming();
  Transfer early = trace.recording.transfers[0];
  early.start = 5 * ms, early.duration = 10 * ms;  // half of it before the warm-up ends
  trace.recording.transfers.push_back(early);
  EXPECT_NEAR(*metric(trace.done(), "bandwidth_utilization").value, 9e6 / (.04 * 1e9), 1e-9);
}

TEST(Roofline, moving_more_than_the_tier_can_is_an_instrument_error) {
  Trace trace = streaming();
  trace.recording.capacities[2].measured_bandwidth = 1e8;
  EXPECT_EQ(metric(trace.done(), "bandwidth_utilization").status, ValueStatus::invalid);
}

TEST(Roofline, a_tier_of_unknown_bandwidth_is_unavailable_even_with_a_datasheet) {
  Trace trace = streaming();
  trace.recording.capacities[2].measured_bandwidth = 0;
  trace.recording.capacities[2].datasheet_bandwidth = 1e9;
  EXPECT_EQ(metric(trace.done(), "bandwidth_utilization").status, ValueStatus::unavailable);
}

TEST(Roofline, main_memory_counts_only_when_a_step_reads_twice_the_last_level_cache) {
  Trace trace = streaming();
  const TierId dram = trace.tier("dram", 1, false, 0);
  calibrate(trace, "2000000000", "8000000000");
  const auto of_dram = [&] {
    return metric(trace.done(), "bandwidth_utilization", {.by = By::tier}).by.at(dram - 1).value[0];
  };
  // 10 MB a step against 2 x 2 MB of cache
  EXPECT_NEAR(*of_dram().value, 40e6 / (.04 * 2e9), 1e-9);
  EXPECT_NEAR(*metric(trace.done(), "model_bandwidth_utilization").value, .5, 1e-9);
  trace.recording.environment["cpu.llc_bytes"] = "8000000";
  EXPECT_EQ(of_dram().status, ValueStatus::unavailable);
  EXPECT_NE(metric(trace.done(), "model_bandwidth_utilization").reason.find("twice the last-level cache"),
            std::string::npos);
}

TEST(Roofline, what_was_copied_out_of_main_memory_is_held_to_the_same_working_set) {
  Trace trace;
  const TierId resident = trace.tier("resident", 0, true, 0), dram = trace.tier("dram", 1, false, 0);
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    Transfer transfer;
    transfer.track = 1, transfer.start = trace.now, transfer.duration = 5 * ms, transfer.from = dram,
    transfer.to = resident, transfer.bytes = transfer.useful_bytes = 65'536;
    trace.recording.transfers.push_back(transfer);
    trace.step({.parameter_bytes = 65'536, .flops = 1'000'000});
  }
  calibrate(trace, "10000000", "8000000000");
  for (const std::optional<By> by : {std::optional<By>{}, std::optional<By>{By::tier}}) {
    const MetricValue whole = metric(trace.done(), "bandwidth_utilization", {.by = by});
    const MetricValue& value = by ? whole.by.at(dram - 1).value[0] : whole;
    EXPECT_EQ(value.status, ValueStatus::unavailable);
    EXPECT_NE(value.reason.find("less than twice the last-level cache"), std::string::npos) << value.reason;
  }
  EXPECT_EQ(metric(trace.done(), "step_time_over_roofline").subject, "compute");
  trace.recording.environment["cpu.llc_bytes"] = "10000";
  const MetricValue value = metric(trace.done(), "bandwidth_utilization");
  EXPECT_NEAR(*value.value, 4 * 65'536 / (.04 * 1e7), 1e-9);
  EXPECT_EQ(value.beside.at(1).name, "calibrated bandwidth");
  // Steps that carry no bytes: what was copied is the working set.
  for (Step& step : trace.recording.steps) step.parameter_bytes = 0;
  EXPECT_TRUE(metric(trace.done(), "bandwidth_utilization").ok());
  trace.recording.environment["cpu.llc_bytes"] = "1000000";
  EXPECT_FALSE(metric(trace.done(), "bandwidth_utilization").ok());
}

// Block 7 is prefetched twice: the first time for nothing. Every transfer moves 2,000,000 B, 1,500,000 asked for.
TEST(Roofline, bytes_of_prefetches_that_nobody_used_are_not_useful) {
  Trace trace = streaming();
  for (Transfer& transfer : trace.recording.transfers) transfer.block = 7;
  const auto prefetch = [&](TimeNs time, PrefetchPoint point, std::uint64_t block = 7, TierId tier = 1) {
    Prefetch event;
    event.track = 1, event.time = time, event.point = point, event.block = block, event.tier = tier;
    trace.recording.prefetches.push_back(event);
  };
  const auto share = [&] { return *metric(trace.done(), "useful_byte_share").value; };
  const TimeNs first = trace.recording.transfers[0].start;
  prefetch(first, PrefetchPoint::issued);
  prefetch(first + 5 * ms, PrefetchPoint::completed);
  EXPECT_NEAR(share(), .75, 1e-12) << "a prefetch whose fate is unknown was asked for";
  prefetch(first + 6 * ms, PrefetchPoint::evicted_unused, 8);
  prefetch(first + 6 * ms, PrefetchPoint::evicted_unused, 7, 2);
  EXPECT_NEAR(share(), .75, 1e-12) << "another block, another tier";
  prefetch(first + 7 * ms, PrefetchPoint::evicted_unused);
  EXPECT_NEAR(share(), .75 * 3 / 4, 1e-12);
  prefetch(first + 8 * ms, PrefetchPoint::issued);
  prefetch(first + 9 * ms, PrefetchPoint::cancelled);
  EXPECT_NEAR(share(), .75 * 3 / 4, 1e-12) << "cancelled before anything moved";
  prefetch(first + 10 * ms, PrefetchPoint::issued);
  prefetch(first + 12 * ms, PrefetchPoint::cancelled);
  EXPECT_NEAR(share(), .75 * 2 / 4, 1e-12) << "cancelled while it moved";
  prefetch(first + 38 * ms, PrefetchPoint::evicted_unused);  // the fourth and, with it, the third since `issued`
  EXPECT_NEAR(share(), 0, 1e-12);
  // Where an engine does not say when it asked, the last transfer is the one.
  std::erase_if(trace.recording.prefetches, [](const Prefetch& p) { return p.point == PrefetchPoint::issued; });
  std::erase_if(trace.recording.prefetches, [](const Prefetch& p) { return p.point == PrefetchPoint::cancelled; });
  EXPECT_NEAR(share(), .75 * 2 / 4, 1e-12);
}

TEST(Roofline, without_a_calibration_main_memory_is_unavailable_and_says_what_to_run) {
  Trace trace = streaming();
  EXPECT_NE(metric(trace.done(), "model_bandwidth_utilization").reason.find("dmprof calibrate"), std::string::npos);
  EXPECT_NE(metric(trace.done(), "model_flops_utilization").reason.find("dmprof calibrate"), std::string::npos);
  trace.recording.transfers.clear();
  EXPECT_EQ(metric(trace.done(), "bandwidth_utilization").status, ValueStatus::unavailable);
}

TEST(Roofline, step_time_is_compared_with_the_slowest_resource) {
  Trace trace = streaming();
  // backing needs 2 ms of 10
  MetricValue value = metric(trace.done(), "step_time_over_roofline");
  EXPECT_NEAR(*value.value, 5, 1e-9);
  EXPECT_EQ(value.subject, "backing");
  // compute needs 40 MFLOP / 8 GFLOP/s = 5 ms, main memory 10 MB / 2 GB/s = 5 ms
  calibrate(trace, "4000000000", "8000000000");
  value = metric(trace.done(), "step_time_over_roofline");
  EXPECT_NEAR(*value.value, 2, 1e-9);
  EXPECT_EQ(value.subject, "compute");
}

TEST(Roofline, intensity_and_ridge_are_flops_per_byte) {
  Trace trace = streaming();
  calibrate(trace, "4000000000", "8000000000");
  EXPECT_NEAR(*metric(trace.done(), "operational_intensity").value, 4, 1e-12);
  const MetricValue ridge = metric(trace.done(), "ridge_point");
  EXPECT_NEAR(*ridge.value, 8, 1e-12);
  EXPECT_EQ(ridge.subject, "backing");
  EXPECT_NEAR(*metric(trace.done(), "model_flops_utilization").value, .5, 1e-9);
}

TEST(Roofline, arithmetic_is_a_kernel_s_time_less_its_stall) {
  Trace trace = streaming();
  for (int i = 1; i < 5; ++i) {
    Kernel kernel;
    kernel.track = 1, kernel.start = i * 10 * ms, kernel.duration = 8 * ms, kernel.stall = 6 * ms;
    trace.recording.kernels.push_back(kernel);
  }
  EXPECT_NEAR(*metric(trace.done(), "compute_utilization").value, .2, 1e-9);
  trace.recording.kernels.clear();
  EXPECT_EQ(metric(trace.done(), "compute_utilization").status, ValueStatus::unavailable);
}

TEST(Roofline, the_busiest_link_is_named_with_its_queue_and_amplification) {
  Trace trace = streaming();
  const MetricValue value = metric(trace.done(), "link_utilization");
  EXPECT_NEAR(*value.value, .5, 1e-9);
  EXPECT_EQ(value.subject, "backing to resident");
}

// Two managed tiers: hits of 3 of 4 in the fast one of 8 GB/s, of 1 of 8 in the slow one of 2 GB/s.
TEST(Roofline, effective_bandwidth_is_of_the_fastest_tier_that_was_asked_and_names_it) {
  for (const bool fast_first : {true, false}) {
    Trace trace;
    TierId fast = 0, slow = 0;
    if (fast_first) fast = trace.tier("l1", 0, true, 8e9);
    slow = trace.tier("pool", 1, true, 2e9);
    if (!fast_first) fast = trace.tier("l1", 0, true, 8e9);
    calibrate(trace, "1000000000", "8000000000000");
    trace.warm_up();
    for (int i = 0; i < 4; ++i) trace.step({.parameter_bytes = 1'000'000, .flops = 4'000'000});
    const auto ask = [&](TierId tier, int hits, int all) {
      for (int i = 0; i < all; ++i)
        trace.access(1, tier, i < hits ? AccessOutcome::hit : AccessOutcome::miss, BlockOrigin::resident,
                     trace.now - 1 * ms, 0, trace.steps);
    };
    ask(fast, 3, 4), ask(slow, 1, 8);
    const MetricValue value = metric(trace.done(), "effective_bandwidth");
    ASSERT_TRUE(value.ok()) << value.reason;
    EXPECT_NEAR(*value.value, 8e9 * 3 / 4, 1);
    EXPECT_EQ(value.subject, "l1");
  }
}

TEST(Roofline, effective_bandwidth_takes_main_memory_s_where_the_tier_has_none) {
  Trace trace = streaming();
  calibrate(trace, "4000000000", "8000000000000");
  trace.access(1, 1, AccessOutcome::hit, BlockOrigin::resident, trace.now - 1 * ms, 0, trace.steps);
  trace.access(2, 1, AccessOutcome::miss, BlockOrigin::demand, trace.now - 1 * ms, 0, trace.steps);
  const MetricValue value = metric(trace.done(), "effective_bandwidth");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_NEAR(*value.value, 2e9, 1);
  EXPECT_EQ(value.subject, "resident");
}

TEST(Roofline, an_empty_recording_answers_nothing) {
  Recording empty;
  Catalogue catalogue;
  register_roofline(catalogue);
  for (const Metric& each : catalogue.metrics())
    EXPECT_EQ(metric(empty, each.name).status, ValueStatus::unavailable) << each.name;
}

}  // namespace
}  // namespace dmprof
