// The engine thread's side of the SDK: every event of the run goes out here and is counted here. Costs a few time
// stamps a step; with nobody attached the SDK calls fall through. Owned and used by the engine thread alone, except
// where a member says otherwise.
#pragma once

#include <array>
#include <atomic>
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
  // Publishes the process for collectors (waits for `dmprof run` where that started it) and names the thread. The SDK
  // allows one identity a process: two recorders at a time would share its control page.
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Ticks now() const { return dmprof_now(track_); }  // any thread
  // Fixes the scale between ticks and time for the rest of the recorder's life (may take 20 ms, the SDK wants a base to
  // measure on). Before the first conversion.
  void calibrate();
  // Any thread, once calibrated.
  std::int64_t nanoseconds(Ticks ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }
  Ticks ticks(std::int64_t ns) const { return static_cast<Ticks>(static_cast<double>(ns) / ns_per_tick_); }
  dmprof_track* track() { return track_; }

  // Ends the open stage and begins the next one; returns the moment in between.
  Ticks enter(Stage stage);
  // Ends the open stage and begins none.
  void leave();
  const StageTicks& stage_ticks() const { return stage_ticks_; }

  // Later slices, kernels and block accesses belong to this step; `phase` is DMPROF_PREFILL or DMPROF_DECODE.
  void begin_step(std::uint64_t step, std::uint8_t phase);
  // Any thread.
  std::uint64_t step() const { return step_.load(std::memory_order_relaxed); }
  std::uint8_t phase() const { return phase_.load(std::memory_order_relaxed); }

  void request(const dmprof_request_event& event);
  void step_done(const dmprof_step_event& event);
  void speculation(const dmprof_speculation_event& event);
  // Counters, told when they change.
  void batch_size(std::uint32_t sequences) { counter(batch_, sequences); }
  void kv_in_use(std::uint64_t bytes, std::uint64_t capacity);
  void resident_bytes(std::uint64_t bytes) { counter(resident_, static_cast<double>(bytes)); }  // weights in memory
  std::uint32_t name(const std::string& text) { return dmprof_name(text.c_str()); }

  // Time the engine thread stood still for blocks, in all.
  void add_stall(Ticks ticks) { stalled_ += ticks; }
  Ticks stalled() const { return stalled_; }

  const Counts& counts() const { return counts_; }
  Counts& counts() { return counts_; }

 private:
  struct Gauge {
    std::uint32_t name = 0;
    double value = -1;
  };
  void counter(Gauge& gauge, double value);

  dmprof_track* track_;
  double ns_per_tick_ = 1;
  std::array<std::uint32_t, stage_count> stages_{};
  Gauge batch_, kv_, kv_usage_, resident_;
  bool open_ = false;
  Stage stage_ = Stage::host;
  Ticks since_ = 0;
  StageTicks stage_ticks_{};
  std::atomic<std::uint64_t> step_{0};
  std::atomic<std::uint8_t> phase_{DMPROF_PHASE_NONE};
  Ticks stalled_ = 0;
  Counts counts_;
};

}  // namespace dmengine
