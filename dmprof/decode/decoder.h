// Slots to events: one decoder an engine. Converts times, translates names and tiers, and checks everything: slots come
// from a process that is not trusted. What cannot become an event is counted, so that for every track events emitted =
// events decoded + losses. One thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dmprof/decode/clock_map.h"
#include "dmprof/event/event.h"
#include "dmprof/sdk/abi.h"

namespace dmprof::decode {

struct TrackCounts {
  std::uint64_t decoded = 0;
  std::uint64_t malformed = 0;  // unknown kind, bad code, cut short
  std::uint64_t contradictory =
      0;  // fields that exclude each other: more accepted than verified, more useful bytes than bytes
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
  bool bound(std::uint16_t index) const { return index < tracks_.size() && tracks_[index].clock != nullptr; }
  // The track is over.
  TrackCounts unbind(std::uint16_t index);
  TrackCounts counts(std::uint16_t index) const;
  // Events of entries that nobody had bound.
  std::uint64_t strays() const { return strays_; }

  // Appends the events of `slots` to `out` and returns how many slots are done with. Slots at the end that begin an
  // event whose rest is not there yet are left for the next call, unless `last` says that nothing follows.
  std::size_t decode(std::span<const dmprof_slot> slots, bool last, std::vector<Event>& out);

 private:
  struct Track {
    TrackId id = 0;
    const ClockMap* clock = nullptr;
    TrackCounts counts;
  };
  bool decode_one(Track& track, const dmprof_slot* slot, std::vector<Event>& out);
  NameId name(std::uint32_t id) const { return id < names_.size() ? names_[id] : 0; }

  std::vector<NameId> names_;
  std::vector<TierId> tiers_;
  std::vector<Track> tracks_;  // by index; no clock: nobody has bound it
  std::uint64_t strays_ = 0;
};

}  // namespace dmprof::decode
