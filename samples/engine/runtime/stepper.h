// One step of the whole batch: all drafts, one pass of the target over everything, acceptance. Speculation changes how
// many tokens a step gives, never which: greedy output is bit-identical to plain decoding.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "samples/engine/instrument/recorder.h"
#include "samples/engine/model/model.h"
#include "samples/engine/runtime/baseline.h"
#include "samples/engine/runtime/drafter.h"
#include "samples/engine/runtime/sequence.h"
#include "samples/engine/runtime/settings.h"

namespace dmengine {

struct StepTimes {
  Ticks start = 0;
  Ticks drafted = 0;   // candidate generation has ended
  Ticks verified = 0;  // the target's pass has ended
  Ticks end = 0;
};

// Used by the engine thread alone.
class Stepper {
 public:
  // Everything must outlive the stepper. `drafter` may be null: no speculation.
  Stepper(Model& target, KvCache cache, Drafter* drafter, const Settings& settings, std::optional<Token> end_of_text,
          Recorder& recorder);

  void open(std::uint32_t slot);
  void close(std::uint32_t slot) { cache_.truncate(slot, 0); }

  // `batch`: sequences with work in this step, `chunk` set for those that still read their prompt. `waiting`: requests
  // that wait for admission. Appends what each sequence emitted and sets `finish` where it ended. On an error no
  // sequence got a token.
  Status run(std::span<Sequence* const> batch, std::uint32_t waiting);

  Ticks last_end() const { return times_.end; }  // of the latest step: its tokens exist since then
  // The target's keys and values: bytes in use, and what all slots can hold.
  std::uint64_t kv_bytes() const;
  std::uint64_t kv_capacity() const { return cache_.bytes_per_position() * cache_.capacity() * cache_.slots(); }
  const ForwardStats& stats() const { return stats_; }

 private:
  struct Outcome {
    std::uint32_t accepted = 0;
    std::uint32_t emitted = 0;
    bool judged = false;
  };

  void plan_drafts(std::span<Sequence* const> batch);
  bool needs_draft(std::span<Sequence* const> batch) const;
  Status verify(std::span<Sequence* const> batch);
  void accept(std::span<Sequence* const> batch);
  Outcome settle(Sequence& sequence, std::span<const float> rows);
  void report(std::span<Sequence* const> batch, std::uint32_t waiting, bool prefill, const ForwardStats& before);
  void report_sequence(const Sequence& sequence, const Outcome& outcome);

  Model& target_;
  KvCache cache_;
  Drafter* drafter_;
  const Settings& settings_;
  std::optional<Token> end_of_text_;
  Recorder& recorder_;
  Verifier verifier_;
  BaselineWindows baseline_;
  ForwardStats stats_;

  // Of the step in progress.
  std::uint64_t step_ = 0;
  bool plain_ = false;  // a baseline step
  StepTimes times_;
  Batch pass_;
  std::vector<float> logits_;
  std::vector<Outcome> outcomes_;
};

}  // namespace dmengine
