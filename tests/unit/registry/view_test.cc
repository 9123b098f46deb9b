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

TEST(View, decode_beside_prefill_on_another_card_stays_decode_time) {
  Trace trace;
  for (int i = 0; i < 4; ++i) trace.step({});
  Step other;
  other.track = 2, other.start = 25 * ms, other.duration = 10 * ms, other.step = 99, other.phase = Phase::prefill;
  trace.recording.steps.push_back(other);
  const View view(trace.done());
  EXPECT_EQ(total(view.time({})), 30 * ms);
  EXPECT_EQ(view.step_tracks(), 2u);
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

}  // namespace
}  // namespace dmprof
