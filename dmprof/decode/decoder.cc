#include "dmprof/decode/decoder.h"

#include <algorithm>
#include <bit>

#include "dmprof/decode/domain_events.h"

namespace dmprof::decode {

Decoder::Decoder() : names_{0}, tiers_{0} {}

void Decoder::bind(std::uint16_t index, TrackId track, const ClockMap& clock) {
  if (tracks_.size() <= index) tracks_.resize(index + 1u);
  tracks_[index] = {track, &clock, {}};
}

TrackCounts Decoder::counts(std::uint16_t index) const { return bound(index) ? tracks_[index].counts : TrackCounts{}; }

TrackCounts Decoder::unbind(std::uint16_t index) {
  const TrackCounts last = counts(index);
  if (bound(index)) tracks_[index] = {};
  return last;
}

std::size_t Decoder::decode(std::span<const dmprof_slot> slots, bool last, std::vector<Event>& out) {
  std::size_t at = 0;
  while (at < slots.size()) {
    const dmprof_slot& slot = slots[at];
    const std::size_t length = slots_of(slot.head.kind);
    const bool cut = length > slots.size() - at;
    if (cut && !last) break;
    if (!bound(slot.head.track)) {
      ++strays_;
    } else {
      Track& track = tracks_[slot.head.track];
      if (length == 0 || cut || !decode_one(track, &slot, out)) ++track.counts.malformed;
    }
    at += cut ? slots.size() - at : std::max<std::size_t>(length, 1);
  }
  return at;
}

bool Decoder::decode_one(Track& track, const dmprof_slot* slot, std::vector<Event>& out) {
  const dmprof_slot_head& head = slot->head;
  switch (head.kind) {
    case DMPROF_KIND_SPAN: {
      // Both ends are converted, not the length: contiguous phases stay contiguous.
      const TimeNs start = track.clock->time(head.time);
      const TimeNs end = track.clock->time(head.time + slot->b);
      if (head.time + slot->b < head.time) return false;
      out.emplace_back(Slice{track.id, start, end - start, name(head.name), head.code, slot->a, 0});
      break;
    }
    case DMPROF_KIND_INSTANT:
      out.emplace_back(Instant{track.id, track.clock->time(head.time), name(head.name), slot->b});
      break;
    case DMPROF_KIND_COUNTER:
      out.emplace_back(
          Counter{track.id, track.clock->time(head.time), name(head.name), std::bit_cast<double>(slot->b)});
      break;
    default: {
      const bool named =
          head.kind == DMPROF_KIND_SLICE || head.kind == DMPROF_KIND_KERNEL || head.kind == DMPROF_KIND_REQUEST;
      const Context context{track.id, *track.clock, named ? name(head.name) : 0, std::span<const TierId>(tiers_)};
      const Verdict verdict = decode_domain_event(context, slot, out);
      if (verdict == Verdict::contradictory) ++track.counts.contradictory;
      if (verdict != Verdict::good) return verdict == Verdict::contradictory;
    }
  }
  ++track.counts.decoded;
  return true;
}

}  // namespace dmprof::decode
