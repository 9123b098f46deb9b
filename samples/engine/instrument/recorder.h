// The engine thread's side of the SDK: every event of the run goes out here and is counted here. Costs a few time stamps a step;
// with nobody attached the SDK calls fall through. Owned and used by the engine thread alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dmprof/sdk/dmprof.h"
#include "samples/engine/instrument/counts.h"
#include "samples/engine/instrument/stage.h"

namespace dmengine {

// Clock readings and their differences are the SDK's ticks.
using Ticks = std::uint64_t;

class Recorder {
 public:
  // Publishes the process for collectors (waits for `dmprof run` where that started it) and names the thread. The SDK allows one
  // identity a process: two recorders at a time would share its control page.
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Ticks now() const { return dmprof_now(track_); }
  static std::int64_t nanoseconds(Ticks ticks) { return static_cast<std::int64_t>(dmprof_ticks_to_ns(ticks)); }
  dmprof_track* track() { return track_; }

  // Ends the open stage and begins the next one; returns the moment in between.
  Ticks enter(Stage stage);
  // Ends the open stage and begins none.
  void leave();
  const StageTicks& stage_ticks() const { return stage_ticks_; }

  // Later slices, kernels and block accesses belong to this step.
  void begin_step(std::uint64_t step);
  std::uint64_t step() const { return step_; }

  void request(const dmprof_request_event& event);
  void step_done(const dmprof_step_event& event);
  void speculation(const dmprof_speculation_event& event);
  void batch_size(std::uint32_t sequences);  // a counter, told when it changes
  std::uint32_t name(const std::string& text) { return dmprof_name(text.c_str()); }

  // Time the engine thread stood still for blocks, in all.
  void add_stall(Ticks ticks) { stalled_ += ticks; }
  Ticks stalled() const { return stalled_; }

  const Counts& counts() const { return counts_; }
  Counts& counts() { return counts_; }

 private:
  dmprof_track* track_;
  std::array<std::uint32_t, stage_count> stages_{};
  std::uint32_t batch_name_ = 0;
  std::uint32_t batch_ = UINT32_MAX;
  bool open_ = false;
  Stage stage_ = Stage::host;
  Ticks since_ = 0;
  StageTicks stage_ticks_{};
  std::uint64_t step_ = 0;
  Ticks stalled_ = 0;
  Counts counts_;
};

}  // namespace dmengine
