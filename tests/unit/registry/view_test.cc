#include "analyzers/registry/view.h"

#include <gtest/gtest.h>

#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

TEST(View, keeps_prefill_warm_up_and_baseline_apart_from_decode) {
  Trace trace;
  trace.step({.duration = 50 * ms, .phase = Phase::prefill});  // 0..50
  trace.step({});                                              // warm-up 50..60
  trace.step({.drafted = 4, .accepted = 2});                   // 60..70
  trace.step({.cut = StepCut::baseline});                      // 70..80
  trace.step({.drafted = 4, .accepted = 2});                   // 80..90
  const View view(trace.done());
  EXPECT_EQ(view.steps({}).size(), 2u);
  EXPECT_EQ(view.steps({.phase = Phase::prefill}).size(), 1u);
  EXPECT_EQ(view.baseline_steps({}).size(), 1u);
  EXPECT_EQ(total(view.time({})), 20 * ms);
  EXPECT_EQ(total(view.time({.phase = Phase::prefill})), 50 * ms);
  EXPECT_EQ(view.window({}), "decode, 1 warm-up step and 1 baseline step left out");
}

TEST(View, pauses_between_decode_steps_are_decode_time_and_prefill_between_them_is_not) {
  Trace trace;
  trace.step({});
  trace.step({});
  trace.now += 30 * ms;
  trace.step({.duration = 40 * ms, .phase = Phase::prefill});
  trace.step({});
  const View view(trace.done());
  EXPECT_EQ(total(view.time({})), (10 + 30 + 10) * ms);
}

TEST(View, a_recording_of_two_steps_is_too_short_for_warm_up) {
  Trace trace;
  trace.step({});
  trace.step({});
  const View view(trace.done());
  EXPECT_EQ(view.steps({}).size(), 2u);
  EXPECT_EQ(view.window({}), "decode, no warm-up left out (too few steps)");
}

TEST(View, an_access_takes_its_phase_from_itself_then_from_its_step_then_from_its_time) {
  Trace trace;
  const std::uint64_t prefill = trace.step({.phase = Phase::prefill});  // 0..10
  const std::uint64_t warm_up = trace.step({});                         // 10..20
  const std::uint64_t decode = trace.step({});                          // 20..30
  trace.step({});                                                       // 30..40
  const auto add = [&](TimeNs time, std::uint64_t step, Phase phase) {
    trace.access(1, 0, AccessOutcome::hit, BlockOrigin::resident, time, 0, step, phase);
  };
  add(5 * ms, 0, Phase::decode);         // decode by its own word, before warm-up ends: left out
  add(25 * ms, prefill, Phase::none);    // prefill by its step
  add(5 * ms, 0, Phase::none);           // prefill by its time
  add(12 * ms, warm_up, Phase::decode);  // warm-up
  add(25 * ms, decode, Phase::none);     // decode by its step
  add(35 * ms, 0, Phase::none);          // decode by its time
  const View view(trace.done());
  EXPECT_EQ(view.accesses({}).size(), 2u);
  EXPECT_EQ(view.accesses({.phase = Phase::prefill}).size(), 2u);
}

TEST(View, decode_beside_prefill_on_another_track_of_the_unit_stays_decode_time) {
  Trace trace;
  for (int i = 0; i < 4; ++i) trace.step({});
  Step other;
  other.track = 2, other.start = 25 * ms, other.duration = 10 * ms, other.step = 99, other.phase = Phase::prefill;
  trace.recording.steps.push_back(other);
  const View view(trace.done());
  EXPECT_EQ(total(view.time({})), 30 * ms);
  EXPECT_EQ(view.units(), 1u);
}

TEST(View, a_card_has_a_decode_time_and_a_warm_up_of_its_own) {
  Trace trace;
  for (int i = 0; i < 4; ++i) trace.step({});  // 0 to 40 ms, the first 10 ms warm-up
  trace.recording.tracks[1].name = "card 0/compute", trace.recording.tracks[2].name = "card 1/compute";
  const auto other = [&](std::uint64_t id, TimeNs start, Phase phase) {
    Step step;
    step.track = 2, step.start = start, step.duration = 10 * ms, step.step = id, step.phase = phase;
    trace.recording.steps.push_back(step);
  };
  other(91, 0, Phase::prefill), other(92, 10 * ms, Phase::decode), other(93, 20 * ms, Phase::decode),
      other(94, 30 * ms, Phase::prefill), other(95, 40 * ms, Phase::decode);
  const View view(trace.done());
  EXPECT_EQ(view.units(), 2u);
  EXPECT_EQ(view.warm_up_steps(), 2u);
  // Both share 10 to 50 ms; the second leaves out its warm-up and its prefill.
  EXPECT_EQ(total(view.time({}, 1)), 40 * ms);
  EXPECT_EQ(total(view.time({}, 2)), 20 * ms);
  EXPECT_EQ(view.wall({}), 30 * ms);
  EXPECT_TRUE(view.in_scope(1, 35 * ms, {}));
  EXPECT_FALSE(view.in_scope(2, 35 * ms, {}));
}

TEST(View, a_request_sees_its_own_rows_steps_and_accesses_in_order) {
  Trace trace;
  trace.warm_up();
  const std::uint64_t both = trace.step({.drafted = 4, .accepted = 1, .requests = {1, 2}});
  const std::uint64_t second = trace.step({.drafted = 4, .accepted = 2, .requests = {2}});
  const std::uint64_t first = trace.step({.drafted = 4, .accepted = 3, .requests = {1}});
  for (const std::uint64_t step : {both, second, first}) {
    trace.access(step * 10 + 1, 1, AccessOutcome::hit, BlockOrigin::resident, 5 * ms, 0, step);
    trace.access(step * 10 + 2, 1, AccessOutcome::hit, BlockOrigin::resident, 6 * ms, 0, step);
  }
  const View view(trace.done());
  const auto blocks = [&](std::uint64_t request) {
    std::vector<std::uint64_t> all;
    view.each_access({.request = request}, [&](const BlockAccess& access) { all.push_back(access.block); });
    return all;
  };
  const auto steps = [&](std::uint64_t request) {
    std::vector<std::uint64_t> all;
    for (const Step& step : view.steps({.request = request})) all.push_back(step.step);
    return all;
  };
  EXPECT_EQ(steps(1), (std::vector<std::uint64_t>{both, first}));
  EXPECT_EQ(steps(2), (std::vector<std::uint64_t>{both, second}));
  EXPECT_EQ(blocks(2), (std::vector<std::uint64_t>{both * 10 + 1, both * 10 + 2, second * 10 + 1, second * 10 + 2}));
  EXPECT_EQ(view.speculation({.request = 2}).size(), 2u);
  EXPECT_EQ(view.rows_of_step(both).size(), 2u);
  EXPECT_TRUE(steps(99).empty());
  EXPECT_TRUE(blocks(99).empty());
  EXPECT_TRUE(view.rows_of_step(0).empty());
}

TEST(View, step_ids_out_of_order_are_found_all_the_same) {
  Trace trace;
  for (int i = 0; i < 6; ++i) trace.step({});
  for (Step& step : trace.recording.steps) step.step = 100 - step.step;
  for (SpeculationStep& row : trace.recording.speculation) row.step = 100 - row.step;
  const View view(trace.done());
  EXPECT_EQ(view.rows_of_step(97).size(), 1u);
  EXPECT_EQ(view.steps({.request = 1}).size(), 5u);
}

TEST(View, wall_is_the_length_of_time) {
  Trace trace;
  for (int i = 0; i < 4; ++i) trace.step({});
  trace.step({.duration = 30 * ms, .phase = Phase::prefill});
  trace.step({});
  const View view(trace.done());
  for (const Scope& scope : {Scope{}, Scope{.phase = Phase::prefill}, Scope{.range = TimeRange{15 * ms, 55 * ms}}})
    EXPECT_EQ(view.wall(scope), total(view.time(scope)));
}

TEST(View, prefetches_belong_where_the_accesses_of_their_step_belong) {
  Trace trace;
  const std::uint64_t prefill = trace.step({.phase = Phase::prefill}), warm_up = trace.step({}),
                      decode = trace.step({});
  const std::uint64_t baseline = trace.step({.cut = StepCut::baseline});
  trace.step({});
  trace.step({});
  const View view(trace.done());
  for (const std::uint64_t step : {prefill, warm_up, decode, baseline, std::uint64_t{0}, std::uint64_t{77}}) {
    for (const TimeNs time : {5 * ms, 15 * ms, 25 * ms, 35 * ms, 45 * ms, 500 * ms}) {
      Prefetch prefetch;
      prefetch.step = step, prefetch.time = time;
      BlockAccess access;
      access.step = step, access.time = time;
      for (const Phase phase : {Phase::prefill, Phase::decode})
        EXPECT_EQ(view.belongs(prefetch, {.phase = phase}), view.belongs(access, {.phase = phase}))
            << step << " " << time;
    }
  }
}

TEST(View, an_empty_recording_has_nothing_and_breaks_nothing) {
  const Recording recording;
  const View view(recording);
  EXPECT_TRUE(view.steps({}).empty());
  EXPECT_TRUE(view.time({}).empty());
  EXPECT_TRUE(view.accesses({}).empty());
  EXPECT_EQ(view.find_step(0), nullptr);
}

TEST(Recording, keeps_one_process_and_the_machine_s_own_tiers) {
  Trace trace;
  trace.step({});
  Recording& recording = trace.recording;
  recording.processes[1] = {}, recording.processes[2] = {};
  recording.tracks[1].process = 1;
  recording.tracks[2].process = 2;
  Step foreign;
  foreign.track = 2;
  recording.steps.push_back(foreign);
  recording.steps.push_back(foreign);
  recording.capacities[1].process = 1, recording.capacities[2].process = 2, recording.capacities[3].process = 0;
  EXPECT_EQ(recording.main_process(), 2u);
  recording.keep_process(1);
  EXPECT_EQ(recording.steps.size(), 1u);
  EXPECT_EQ(recording.capacities.size(), 2u);
}

TEST(Recording, a_simulated_engine_is_not_held_against_the_machine_that_simulated_it) {
  Trace trace;
  trace.step({});
  Recording& recording = trace.recording;
  recording.processes[1] = {};
  recording.tracks[1].process = 1;
  recording.tracks[1].clock = 5;
  recording.clocks[5].kind = ClockKind::monotonic;
  EXPECT_FALSE(recording.in_virtual_time());
  recording.clocks[5].kind = ClockKind::virtual_time;
  EXPECT_TRUE(recording.in_virtual_time());
  recording.capacities[1].process = 1, recording.capacities[2].process = 0;
  recording.environment["calibration.read_bandwidth"] = "1";
  recording.environment["cpu.model"] = "kept";
  recording.forget_machine();
  EXPECT_EQ(recording.capacities.size(), 1u);
  EXPECT_EQ(recording.environment.size(), 1u);
}

TEST(Recording, without_steps_nothing_tells_simulated_time) { EXPECT_FALSE(Recording{}.in_virtual_time()); }

}  // namespace
}  // namespace dmprof
