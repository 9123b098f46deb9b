// Slots to events: one decoder an engine. Pairs begins with ends, closes contiguous phases, converts times, translates names
// and tiers, and checks everything: slots come from a process that is not trusted. What cannot become an event is counted,
// so that for every track   events emitted = events decoded + losses.
//
// An event counts when it opens: a span whose end never comes is `unfinished`. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dmprof/decode/clock_map.h"
#include "dmprof/event/event.h"
#include "dmprof/sdk/abi.h"

namespace dmprof::decode {

struct TrackCounts {
  std::uint64_t decoded = 0;
  std::uint64_t malformed = 0;     // unknown kind, bad code, cut short, an end without its begin inside the ring
  std::uint64_t contradictory = 0; // fields that exclude each other: more accepted than verified, more useful bytes than bytes
  std::uint64_t unfinished = 0;    // spans and phases that never ended
};

class Decoder {
 public:
  Decoder();

  // What the engine's ids mean: names in the order of their ids from 1, tiers by id.
  void add_name(NameId id) { names_.push_back(id); }
  void set_tier(std::uint32_t engine_id, TierId id) {
    if (tiers_.size() <= engine_id) tiers_.resize(engine_id + 1u);
    tiers_[engine_id] = id;
  }
  std::size_t names() const { return names_.size(); }

  // Entry `index` of the engine's track table now means this track. The clock must outlive the binding.
  void bind(std::uint16_t index, TrackId track, const ClockMap& clock);
  bool bound(std::uint16_t index) const { return index < tracks_.size() && tracks_[index] != nullptr; }
  // The track is over; spans that are still open become `unfinished`.
  TrackCounts unbind(std::uint16_t index);
  // Counts so far; open spans are not yet `unfinished`.
  TrackCounts counts(std::uint16_t index) const;
  // Events of entries that nobody had bound.
  std::uint64_t strays() const { return strays_; }

  // Appends the events of `slots` to `out` and returns how many slots are done with. Slots at the end that begin an event
  // whose rest is not there yet are left for the next call, unless `last` says that nothing follows.
  std::size_t decode(std::span<const dmprof_slot> slots, bool last, std::vector<Event>& out);

 private:
  struct Open {
    std::uint64_t raw = 0;
    std::uint64_t step = 0;
    std::uint64_t argument = 0;
    NameId name = 0;
    std::uint32_t depth = 0;
  };
  struct Track {
    TrackId id = 0;
    const ClockMap* clock = nullptr;
    TrackCounts counts;
    std::uint64_t open_spans = 0, open_phases = 0;  // a bit a level
    std::array<Open, 64> spans, phases;
  };
  bool decode_one(Track& track, const dmprof_slot* slot, std::vector<Event>& out);
  void begin(Track& track, const dmprof_slot& slot);
  void end(Track& track, const dmprof_slot& slot, std::vector<Event>& out);
  void phase(Track& track, const dmprof_slot& slot, std::vector<Event>& out);
  void close(Track& track, const Open& open, std::uint64_t raw, std::vector<Event>& out);
  NameId name(std::uint32_t id) const { return id < names_.size() ? names_[id] : 0; }
  TierId tier(std::uint32_t id) const { return id < tiers_.size() ? tiers_[id] : 0; }

  std::vector<NameId> names_;
  std::vector<TierId> tiers_;
  std::vector<std::unique_ptr<Track>> tracks_;
  std::uint64_t strays_ = 0;
};

}  // namespace dmprof::decode
