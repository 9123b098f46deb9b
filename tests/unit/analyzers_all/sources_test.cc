// Metrics that rules read and that rest on what sources report, on settings and on the environment.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "analyzers/all/register_all.h"
#include "analyzers/registry/reported.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

MetricValue metric(Recording& recording, const std::string& name) {
  static const Catalogue all = full_catalogue();
  return test::value_of(all, recording, name);
}

NameId name_of(Recording& recording, const std::string& name) {
  for (const auto& [id, known] : recording.names) {
    if (known == name) return id;
  }
  const auto id = static_cast<NameId>(500 + recording.names.size());
  recording.names[id] = name;
  return id;
}

void counter(Trace& trace, const std::string& name, TimeNs time, double value, TrackId track = 1) {
  Counter event;
  event.track = track, event.time = time, event.name = name_of(trace.recording, name), event.value = value;
  trace.recording.counters.push_back(event);
}

void gauge(Trace& trace, const std::string& name, TimeNs time, double value) {
  AggregateSample sample;
  sample.track = 1, sample.start = time, sample.name = name_of(trace.recording, name), sample.value = value;
  trace.recording.samples.push_back(sample);
}

void knob(Trace& trace, const std::string& name, const std::string& value) {
  Knob knob;
  knob.name = name, knob.value = value, knob.since = trace.now;
  trace.recording.knobs.push_back(knob);
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Readings, what_means_not_supported_is_no_figure) {
  for (const double blank : {nan, -nan, HUGE_VAL, 9223372036854775794.0, 18446744073709551615.0, 2147483632.0,
                             2147483634.0, 140737488355328.0, 140737488355330.0})
    EXPECT_FALSE(reported::is_figure(blank)) << blank;
  for (const double figure : {0.0, -1.0, 1e15, 2147483631.0, 2147483636.0, 140737488355331.5, 4294967296.0})
    EXPECT_TRUE(reported::is_figure(figure)) << figure;
}

TEST(Readings, a_counter_of_such_values_answers_nothing_and_one_among_others_is_left_out) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 4; ++i) trace.step({});
  counter(trace, "kv_cache_usage", 10 * ms, nan);
  const MetricValue none = metric(trace.done(), "kv_cache_usage");
  EXPECT_EQ(none.status, ValueStatus::unavailable);
  EXPECT_NE(none.reason.find("not supported"), std::string::npos) << none.reason;
  counter(trace, "kv_cache_usage", 11 * ms, .5);
  counter(trace, "kv_cache_usage", 20 * ms, 9223372036854775794.0);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "kv_cache_usage").value, .5);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "sentinel_readings").value, 2);
}

TEST(Readings, shares_outside_their_range_are_counted_by_name) {
  Trace trace;
  gauge(trace, "sglang:spec_accept_rate", 1 * ms, 1.4);
  gauge(trace, "sglang:spec_accept_rate", 2 * ms, .8);
  gauge(trace, "vllm:kv_cache_usage_perc", 3 * ms, -.1);
  gauge(trace, "queue_length", 4 * ms, 17);  // no share
  const MetricValue value = metric(trace.done(), "impossible_readings");
  EXPECT_DOUBLE_EQ(*value.value, 2);
  EXPECT_EQ(value.samples, 4u);
  EXPECT_EQ(value.parts.size(), 2u);
}

TEST(Readings, a_counter_that_goes_down_restarted_and_is_counted_from_zero_again) {
  Trace trace;
  for (const double reading : {100.0, 130.0, 10.0, 25.0}) counter(trace, "oom_events", trace.now++, reading);
  counter(trace, "kv_cache_usage", 1, .9), counter(trace, "kv_cache_usage", 2, .1);  // a gauge may fall
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "counter_resets").value, 1);
  const MetricValue growth = metric(trace.done(), "oom_events");
  EXPECT_DOUBLE_EQ(*growth.value, 55);
  EXPECT_NE(growth.reason.find("went down"), std::string::npos);
}

// A token every 10 ms; the meter is read at 20, 30 and 60 ms.
TEST(Energy, joules_between_two_readings_are_divided_by_the_tokens_that_came_between_them) {
  Trace trace;
  for (int i = 0; i < 10; ++i) trace.step({});
  for (const auto& [at, joules] : {std::pair(20, 100.0), std::pair(30, 103.0), std::pair(60, 112.0)})
    counter(trace, "energy_joules", at * ms, joules);
  trace.request(9, RequestPoint::first_token, 55 * ms);  // told of by no step
  trace.request(8, RequestPoint::first_token, 65 * ms);  // too late
  const MetricValue value = metric(trace.done(), "energy_per_token");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_DOUBLE_EQ(*value.value, 12.0 / 5);  // at 30, 40, 50, 60 ms, and the prompt's
  EXPECT_EQ(value.reason, "");
  EXPECT_NE(value.window.find("reading"), std::string::npos);
}

TEST(Energy, a_meter_that_restarted_is_said) {
  Trace trace;
  for (int i = 0; i < 10; ++i) trace.step({});
  for (const auto& [at, joules] : {std::pair(0, 100.0), std::pair(50, 110.0), std::pair(100, 10.0)})
    counter(trace, "energy_joules", at * ms, joules);
  const MetricValue value = metric(trace.done(), "energy_per_token");
  EXPECT_DOUBLE_EQ(*value.value, 2);
  EXPECT_NE(value.reason.find("went down 1 times"), std::string::npos) << value.reason;
}

TEST(Energy, one_reading_or_none_with_a_token_after_it_answers_nothing) {
  Trace once, before;
  for (Trace* trace : {&once, &before}) {
    for (int i = 0; i < 4; ++i) trace->step({});
    counter(*trace, "energy_joules", 40 * ms, 5);
  }
  EXPECT_NE(metric(once.done(), "energy_per_token").reason.find("once only"), std::string::npos);
  counter(before, "energy_joules", 50 * ms, 9);
  const MetricValue value = metric(before.done(), "energy_per_token");
  EXPECT_EQ(value.status, ValueStatus::unavailable);
  EXPECT_NE(value.reason.find("no token came"), std::string::npos) << value.reason;
}

TEST(Readings, the_largest_reading_has_the_unit_of_its_metric) {
  Trace trace;
  for (const char* name : {"host_core_busy", "clock_ratio", "throttle"}) counter(trace, name, 0, .5);
  for (int i = 0; i < 4; ++i) trace.step({});
  for (const char* name : {"host_core_busy", "clock_ratio", "throttle"}) {
    const MetricValue value = metric(trace.done(), name);
    ASSERT_TRUE(value.ok()) << name << ": " << value.reason;
    EXPECT_EQ(value.beside.at(0).unit, value.unit) << name;
  }
}

TEST(Readings, a_gauge_of_work_that_holds_still_while_nothing_runs_is_frozen) {
  Trace trace;
  for (int i = 0; i < 5; ++i) {
    gauge(trace, "sglang:gen_throughput", trace.now + 1, 100 + i);
    trace.step({});
  }
  EXPECT_EQ(metric(trace.done(), "frozen_gauges").status, ValueStatus::unavailable);  // never idle
  for (int i = 1; i <= 4; ++i) {
    gauge(trace, "sglang:gen_throughput", trace.now + i * ms, 104);
    gauge(trace, "sglang:cache_hit_rate", trace.now + i * ms, 0);  // fell to zero, as it should
    gauge(trace, "sglang:token_usage", trace.now + i * ms, .5);    // holds what it holds, work or not
  }
  const MetricValue value = metric(trace.done(), "frozen_gauges");
  EXPECT_DOUBLE_EQ(*value.value, 1);
  EXPECT_EQ(value.subject, "sglang:gen_throughput");
}

TEST(Readings, without_steps_the_server_says_itself_when_nothing_runs) {
  Trace trace;
  for (int i = 0; i < 6; ++i) {
    gauge(trace, "vllm:num_requests_running", i * 10 * ms, i < 2 ? 4 : 0);
    gauge(trace, "vllm:avg_generation_throughput_toks_per_s", i * 10 * ms + 1, i < 2 ? 50 + i : 51);
  }
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "frozen_gauges").value, 1);
}

TEST(Readings, known_lifetime_averages_are_named) {
  Trace trace;
  gauge(trace, "llamacpp:predicted_tokens_seconds", 1, 33);
  gauge(trace, "llamacpp:requests_processing", 1, 1);
  const MetricValue value = metric(trace.done(), "lifetime_averages");
  EXPECT_DOUBLE_EQ(*value.value, 1);
  EXPECT_EQ(value.subject, "llamacpp:predicted_tokens_seconds");
}

TEST(Settings, a_knob_that_was_turned_is_counted_once) {
  Trace trace;
  EXPECT_EQ(metric(trace.done(), "settings_changed").status, ValueStatus::unavailable);
  knob(trace, "lookahead", "4"), knob(trace, "cache_policy", "0");
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "settings_changed").value, 0);
  knob(trace, "lookahead", "8"), knob(trace, "lookahead", "4");
  const MetricValue value = metric(trace.done(), "settings_changed");
  EXPECT_DOUBLE_EQ(*value.value, 1);
  EXPECT_EQ(value.subject, "lookahead");
}

TEST(Settings, prompt_tokens_in_decode_steps_are_told_from_drafts) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 4; ++i) trace.step({.drafted = 3, .accepted = 1, .requests = {1, 2}});
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "prefill_in_decode_share").value, 0);
  trace.recording.steps.back().target_tokens += 24;  // 32 instead of 8
  EXPECT_NEAR(*metric(trace.done(), "prefill_in_decode_share").value, 24.0 / 56, 1e-9);
}

TEST(Device, kernels_copies_and_both_without_any_step) {
  Trace trace;
  const auto kernel = [&](TimeNs start, TimeNs duration) {
    Kernel event;
    event.start = start, event.duration = duration;
    trace.recording.kernels.push_back(event);
  };
  Transfer copy;
  copy.start = 0, copy.duration = 60, copy.bytes = 600;
  trace.recording.transfers.push_back(copy);
  kernel(50, 20), kernel(90, 10);  // 50-60 both; everything ends at 100
  trace.done();
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "kernel_busy_share").value, .3);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "copy_busy_share").value, .6);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "copy_overlap_share").value, .1);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "device_busy_share").value, .8);
  EXPECT_EQ(metric(trace.recording, "launches_per_step").status, ValueStatus::unavailable);
}

TEST(Device, launches_and_layers) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 6; ++k) {
      Kernel event;
      event.track = 1, event.start = trace.now + k, event.duration = 1, event.step = trace.steps + 1;
      trace.recording.kernels.push_back(event);
    }
    trace.step({});
  }
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "launches_per_step").value, 6);
  EXPECT_EQ(metric(trace.recording, "model_layers").status, ValueStatus::unavailable);
  trace.recording.environment["model.layers"] = "64";
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "model_layers").value, 64);
}

TEST(Device, the_longest_throttle_reason_is_named_and_the_limiting_clock_follows_the_ridge) {
  const auto recorded = [](std::uint64_t flops) {
    Trace trace;
    trace.recording.environment = {{"calibration.flops", "1e12"}, {"calibration.read_bandwidth", "1e10"}};
    trace.warm_up();
    for (int i = 0; i < 4; ++i) trace.step({.parameter_bytes = 1000, .flops = flops});
    counter(trace, "throttle.thermal", 0, .1), counter(trace, "throttle.sw_power_cap", 0, .97);
    counter(trace, "clock_ratio", 0, .89), counter(trace, "memory_clock_ratio", 0, 1.0);
    return trace.done();
  };
  Recording memory = recorded(2000), compute = recorded(2'000'000);  // the ridge is at 100 FLOP/B
  const MetricValue throttle = metric(memory, "throttle");
  EXPECT_DOUBLE_EQ(*throttle.value, .97);
  EXPECT_EQ(throttle.subject, "sw_power_cap");
  EXPECT_EQ(throttle.parts.size(), 2u);
  EXPECT_DOUBLE_EQ(*metric(memory, "limiting_clock_ratio").value, 1.0);
  EXPECT_EQ(metric(memory, "limiting_clock_ratio").subject, "memory");
  EXPECT_DOUBLE_EQ(*metric(compute, "limiting_clock_ratio").value, .89);
}

TEST(Kv, the_time_until_it_is_full_and_no_time_where_it_does_not_rise) {
  Trace trace;
  for (int i = 0; i < 5; ++i) counter(trace, "kv_cache_usage", i * 100 * ms, .5 + .05 * i);  // .5 in a second
  EXPECT_NEAR(*metric(trace.done(), "kv_time_to_full").value, 600e6, 1e-3);
  Trace falling;
  for (int i = 0; i < 5; ++i) counter(falling, "kv_cache_usage", i * 100 * ms, .9 - .05 * i);
  EXPECT_EQ(metric(falling.done(), "kv_time_to_full").status, ValueStatus::unavailable);
}

TEST(Kv, of_several_caches_the_one_that_is_full_first_is_named) {
  Trace trace;
  trace.recording.tracks[1].name = "card 0/compute", trace.recording.tracks[11].name = "card 1/compute";
  for (int i = 0; i < 5; ++i) {
    counter(trace, "kv_cache_usage", i * 100 * ms, .9 - .05 * i, 1);       // falls
    counter(trace, "kv_cache_usage", i * 100 * ms + 1, .5 + .05 * i, 11);  // .5 in a second
    counter(trace, "kv_cache_usage", i * 100 * ms + 2, .5 + .01 * i, 21);
  }
  const MetricValue value = metric(trace.done(), "kv_time_to_full");
  ASSERT_TRUE(value.ok()) << value.reason;
  EXPECT_NEAR(*value.value, 600e6, 1e-3);
  EXPECT_EQ(value.subject, "card 1/compute");
  EXPECT_EQ(value.samples, 5u);
}

TEST(Kv, how_steeply_the_tail_hangs_on_its_size) {
  Trace trace;
  std::uint64_t request = 0;
  for (const auto& [blocks, wait] : {std::pair("2200", 461), std::pair("2100", 2175), std::pair("2000", 3048)}) {
    knob(trace, "kv_blocks", blocks);
    for (int i = 0; i < 10; ++i) {
      trace.request(++request, RequestPoint::arrive, trace.now, 10);
      trace.request(request, RequestPoint::first_token, trace.now + wait * ms, 1);
      trace.step({});
    }
  }
  const MetricValue value = metric(trace.done(), "kv_size_sensitivity");
  EXPECT_NEAR(*value.value, std::log(2175.0 / 461) / std::log(2200.0 / 2100), 1e-6);
  EXPECT_EQ(value.subject, "2200 to 2100 blocks: P99 461 to 2175 ms");
}

TEST(Kv, footprint_against_the_device_and_the_worst_request) {
  Trace trace;
  trace.recording.environment = {{"device.memory_bytes", "1000"}, {"model.parameter_bytes", "900"}};
  trace.warm_up();
  for (int i = 0; i < 4; ++i) trace.step({});
  counter(trace, "kv_bytes", 0, 300);
  for (int i = 0; i < 3; ++i) trace.request(7, RequestPoint::preempt, 20 * ms + i, 1);
  trace.request(8, RequestPoint::preempt, 20 * ms, 1);
  EXPECT_NEAR(*metric(trace.done(), "footprint_over_capacity").value, 1.2, 1e-9);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "preemptions_of_worst_request").value, 3);
}

TEST(Prefix, a_conversation_s_bound_and_the_block_it_must_fill) {
  Trace trace;
  EXPECT_EQ(metric(trace.done(), "prefix_hit_bound").status, ValueStatus::unavailable);
  trace.recording.environment = {{"workload.rounds", "7"}, {"kv.block_tokens", "64"}};
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "prefix_hit_bound").value, .875);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "kv_block_tokens").value, 64);
  knob(trace, "block_size", "16");
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "kv_block_tokens").value, 16);
}

TEST(Links, requests_on_their_way_their_size_and_what_of_them_was_asked_for) {
  Trace trace;
  const TierId fast = trace.tier("resident", 0, true, 1e9), slow = trace.tier("backing", 1, false, 1e9);
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    Transfer transfer;
    transfer.start = trace.now, transfer.duration = 4 * ms, transfer.from = slow, transfer.to = fast;
    transfer.bytes = 3000, transfer.useful_bytes = 1000;
    trace.recording.transfers.push_back(transfer);
    trace.step({});
  }
  trace.done();
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "link_queue_depth").value, .4);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "bytes_per_transfer").value, 3000);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "read_amplification").value, 3);
}

TEST(Links, kv_on_its_way_while_first_tokens_are_waited_for) {
  Trace trace;
  trace.recording.names[5] = "kv_transfer";
  trace.request(1, RequestPoint::arrive, 0, 10);
  trace.request(1, RequestPoint::first_token, 100, 1);
  Slice slice;
  slice.track = 1, slice.start = 60, slice.duration = 80, slice.name = 5;
  trace.recording.slices.push_back(slice);
  EXPECT_DOUBLE_EQ(*metric(trace.done(), "kv_transfer_share").value, .4);
}

TEST(Prefill, pieces_of_prompts_their_size_and_the_queue) {
  Trace trace;
  trace.warm_up();
  for (int i = 0; i < 4; ++i) {
    trace.step({.phase = Phase::prefill});
    trace.recording.steps.back().target_tokens = 64;
  }
  for (int i = 0; i < 4; ++i) trace.step({.waiting = 3});
  trace.request(1, RequestPoint::arrive, 0, 128);
  trace.request(1, RequestPoint::first_token, 50 * ms, 1);
  trace.done();
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "prefill_chunk_tokens").value, 64);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "prefill_steps_per_request").value, 4);
  EXPECT_NEAR(*metric(trace.recording, "prefill_time_share").value, .5, 1e-9);
  EXPECT_DOUBLE_EQ(*metric(trace.recording, "admission_queue").value, 3);
}

}  // namespace
}  // namespace dmprof
