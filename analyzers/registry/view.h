// What every analyzer needs of a recording, worked out once: which step is prefill, decode, baseline or warm-up, which
// stretches of time count as decoding, and which events belong to a scope. One thread at a time.
//
// The rules, the same for every metric:
//  - prefill and decode are kept apart; decode is the default. A step that mixes both counts as prefill.
//  - warm-up is the first decode step (blocks that were never touched before, tables still empty), of each unit. It is
//    left out unless there are fewer than 3 decode steps.
//  - baseline steps (run without speculation on purpose, to measure c and v(n)) are an intervention of the measurement
//  and are
//    left out of everything but what they were made for.
//  - a unit is one of several devices that work side by side in one process, as cards do: its tracks are named
//    "card 3/compute", "card 3/prefetch". Tracks without a slash, and where no track that runs steps has one, belong to
//    one unit, the whole process. Every unit has a decode time of its own, so that one's prefill is not counted as
//    another's decoding; shares are averaged over units.
//  - decode time is the wall time from the end of warm-up to the end of the last decode step, less stretches in which
//  only prefill
//    or only baseline steps ran. Pauses between decode steps belong to it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzers/registry/intervals.h"
#include "analyzers/registry/key_index.h"
#include "analyzers/registry/metric.h"
#include "analyzers/registry/recording.h"

namespace dmprof {

// The part of the recording a value is about.
struct Scope {
  Phase phase = Phase::decode;
  std::optional<std::uint64_t> request = {};
  std::optional<TierId> tier = {};
  std::optional<TimeRange> range = {};
  Objectives slo = {};
};

class View {
 public:
  explicit View(
      const Recording& recording);  // keeps a reference; the recording must outlive the view and be in time order

  const Recording& recording() const { return recording_; }

  enum class StepClass { decode, prefill, baseline, warm_up };
  StepClass class_of(const Step& step) const;
  const Step* find_step(std::uint64_t step) const;  // nullptr for 0 and for an unknown id

  // Steps of the scope's phase without warm-up and baseline steps; a request's scope keeps steps it took part in.
  std::vector<Step> steps(const Scope& scope) const;
  std::vector<Step> baseline_steps(const Scope& scope) const;

  // Rows of the scope that belong to normal operation: decode rows, baseline rows left out; warm-up rows stay, since a
  // cold cache changes times and not which tokens are accepted.
  std::vector<SpeculationStep> speculation(const Scope& scope) const;
  std::vector<SpeculationStep> rows_of_step(std::uint64_t step) const;
  std::uint64_t baseline_rows() const { return baseline_rows_; }

  // Demand accesses of the scope, warm-up left out, baseline steps kept (they ask the same caches).
  std::vector<BlockAccess> accesses(const Scope& scope) const;
  template <class Visit>
  void each_access(const Scope& scope, Visit&& visit) const {  // the same without a copy
    if (scope.request) {
      for (const std::size_t i : accesses_of_request(*scope.request)) {
        if (belongs(recording_.accesses[i], scope)) visit(recording_.accesses[i]);
      }
      return;
    }
    for (const BlockAccess& access : recording_.accesses) {
      if (belongs(access, scope)) visit(access);
    }
  }
  // The same choice for one access. scope.request is not looked at.
  bool belongs(const BlockAccess& access, const Scope& scope) const {
    return belongs(scope, access.track, access.tier, access.time, access.step, access.phase);
  }
  // Prefetches are told apart by the step they happened in, as accesses are, so that a use and an eviction of the same
  // step are always both in a scope or both outside.
  bool belongs(const Prefetch& prefetch, const Scope& scope) const {
    return belongs(scope, prefetch.track, prefetch.tier, prefetch.time, prefetch.step, Phase::none);
  }

  // Events of the scope's request, or of all.
  template <class Visit>
  void each_request_event(const Scope& scope, Visit&& visit) const {
    if (!scope.request) {
      for (const RequestEvent& event : recording_.requests) visit(event);
      return;
    }
    for (const KeyIndex::Entry& entry : events_by_request().find(*scope.request))
      visit(recording_.requests[entry.position]);
  }

  // Wall time of the scope's phase, see above; of the track's unit, or of any of them. Empty without steps.
  Intervals time(const Scope& scope, TrackId track) const;
  Intervals time(const Scope& scope) const;
  Intervals time_of_unit(const Scope& scope, std::size_t unit) const;  // unit: 0..units()-1
  TimeNs wall(const Scope& scope) const;                               // its length, of several units the mean
  TimeRange run() const;  // first to last request event and step; empty without any
  // By time(): for events that name neither step nor phase.
  bool in_scope(TrackId track, TimeNs time, const Scope& scope) const;

  std::size_t units() const { return units_.size(); }  // at least 1
  std::size_t unit_of(TrackId track) const;            // 0..units()-1
  std::size_t warm_up_steps() const { return warm_up_.size(); }
  std::size_t baseline_step_count() const { return baseline_steps_.size(); }

  // "decode, 1 warm-up step and 12 baseline steps left out"
  std::string window(const Scope& scope, bool keeps_warm_up = false, bool keeps_baseline = false) const;

  // A result shared by several metrics: made once per type T and view.
  template <class T, class Make>
  const T& shared(Make&& make) const {
    std::shared_ptr<const void>& slot = shared_[std::type_index(typeid(T))];
    if (!slot) slot = std::make_shared<const T>(make());
    return *static_cast<const T*>(slot.get());
  }

 private:
  struct Unit {
    Intervals decode, prefill;
    TimeNs warm_up_end = 0;
    bool warms_up = false;

    const Intervals& of(Phase phase) const { return phase == Phase::prefill ? prefill : decode; }
  };
  void find_units();
  void find_warm_up();
  void find_times();
  bool belongs(const Scope& scope, TrackId track, TierId tier, TimeNs time, std::uint64_t step, Phase phase) const;
  bool keeps(const SpeculationStep& row, const Scope& scope) const;
  const KeyIndex& rows_by_step() const;
  const KeyIndex& rows_by_request() const;
  const KeyIndex& events_by_request() const;
  std::vector<std::size_t> steps_of_request(std::uint64_t request) const;     // positions, in time order
  std::vector<std::size_t> accesses_of_request(std::uint64_t request) const;  // positions, step by step

  const Recording& recording_;
  std::unordered_map<std::uint64_t, std::size_t> step_index_;
  std::unordered_set<std::uint64_t> baseline_steps_;
  std::uint64_t baseline_rows_ = 0;
  std::unordered_set<std::uint64_t> warm_up_;  // ids of the warm-up steps
  std::vector<Unit> units_;
  std::unordered_map<TrackId, std::size_t> unit_of_;  // of tracks beyond the first unit's; most recordings have one
  TimeNs decode_length_ = 0, prefill_length_ = 0;     // means over units
  mutable KeyIndex rows_by_step_, rows_by_request_, events_by_request_, accesses_by_step_;
  mutable const Step* last_found_ = nullptr;  // events of one step follow one another
  mutable std::unordered_map<std::type_index, std::shared_ptr<const void>> shared_;
};

}  // namespace dmprof
