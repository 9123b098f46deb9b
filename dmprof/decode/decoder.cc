#include "dmprof/decode/decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "dmprof/decode/domain_events.h"

namespace dmprof::decode {
namespace {

std::uint64_t below(unsigned level) { return level >= 64 ? ~0ull : (1ull << level) - 1; }

unsigned count(std::uint64_t bits) { return static_cast<unsigned>(std::popcount(bits)); }

bool is_open(std::uint64_t bits, unsigned level) { return level < 64 && (bits >> level & 1) != 0; }

// Forgets what is open at `level` and above; returns how many that were.
unsigned forget_from(std::uint64_t& bits, unsigned level) {
  const unsigned lost = count(bits & ~below(level));
  bits &= below(level);
  return lost;
}

}  // namespace

Decoder::Decoder() : names_{0}, tiers_{0} {}

void Decoder::bind(std::uint16_t index, TrackId track, const ClockMap& clock) {
  if (tracks_.size() <= index) tracks_.resize(index + 1u);
  tracks_[index] = std::make_unique<Track>();
  tracks_[index]->id = track;
  tracks_[index]->clock = &clock;
}

TrackCounts Decoder::counts(std::uint16_t index) const { return bound(index) ? tracks_[index]->counts : TrackCounts{}; }

TrackCounts Decoder::unbind(std::uint16_t index) {
  if (!bound(index)) return {};
  Track& track = *tracks_[index];
  TrackCounts counts = track.counts;
  counts.unfinished += count(track.open_spans) + count(track.open_phases);
  tracks_[index].reset();
  return counts;
}

std::size_t Decoder::decode(std::span<const dmprof_slot> slots, bool last, std::vector<Event>& out) {
  std::size_t at = 0;
  while (at < slots.size()) {
    const dmprof_slot& slot = slots[at];
    std::size_t length = slots_of(slot.head.kind);
    const bool cut = length > slots.size() - at;
    if (cut && !last) break;
    if (!bound(slot.head.track)) {
      strays_ += slot.head.kind != DMPROF_KIND_END;
    } else {
      Track& track = *tracks_[slot.head.track];
      if (length == 0 || cut || !decode_one(track, &slot, out)) ++track.counts.malformed;
    }
    at += cut ? slots.size() - at : std::max<std::size_t>(length, 1);
  }
  return at;
}

bool Decoder::decode_one(Track& track, const dmprof_slot* slot, std::vector<Event>& out) {
  const dmprof_slot_head& head = slot->head;
  switch (head.kind) {
    case DMPROF_KIND_BEGIN:
      if (head.code >= 63) return false;
      begin(track, *slot);
      return true;
    case DMPROF_KIND_END:
      if (!is_open(track.open_spans, head.code)) return false;
      end(track, *slot, out);
      return true;
    case DMPROF_KIND_PHASE:
      if (head.code >= 64 || (head.name == 0 && !is_open(track.open_phases, head.code))) return false;
      phase(track, *slot, out);
      return true;
    case DMPROF_KIND_INSTANT:
      out.emplace_back(Instant{track.id, track.clock->time(head.time), name(head.name), slot->b});
      ++track.counts.decoded;
      return true;
    case DMPROF_KIND_COUNTER:
      out.emplace_back(Counter{track.id, track.clock->time(head.time), name(head.name), std::bit_cast<double>(slot->b)});
      ++track.counts.decoded;
      return true;
    default:
      break;
  }
  const bool named = head.kind == DMPROF_KIND_SLICE || head.kind == DMPROF_KIND_KERNEL || head.kind == DMPROF_KIND_REQUEST;
  const Context context{track.id, *track.clock, named ? name(head.name) : 0, std::span<const TierId>(tiers_)};
  switch (decode_domain_event(context, slot, out)) {
    case Verdict::good: ++track.counts.decoded; return true;
    case Verdict::contradictory: ++track.counts.contradictory; return true;
    case Verdict::malformed: break;
  }
  return false;
}

void Decoder::close(Track& track, const Open& open, std::uint64_t raw, std::vector<Event>& out) {
  const TimeNs start = track.clock->time(open.raw);
  const TimeNs duration = std::max<TimeNs>(track.clock->time(raw) - start, 0);  // another core's counter may lag by a tick
  out.emplace_back(Slice{track.id, start, duration, open.name, open.depth, open.step, open.argument});
  ++track.counts.decoded;
}

// Level L: the phase of level L runs inside span L - 1, and span L runs inside the phase of level L.
void Decoder::begin(Track& track, const dmprof_slot& slot) {
  const unsigned level = slot.head.code;
  track.counts.unfinished += forget_from(track.open_spans, level) + forget_from(track.open_phases, level + 1);
  track.spans[level] = {slot.head.time, slot.a, slot.b, name(slot.head.name), count(track.open_spans) + count(track.open_phases)};
  track.open_spans |= 1ull << level;
}

void Decoder::end(Track& track, const dmprof_slot& slot, std::vector<Event>& out) {
  const unsigned level = slot.head.code;
  track.counts.unfinished += forget_from(track.open_spans, level + 1) + forget_from(track.open_phases, level + 2);
  if (is_open(track.open_phases, level + 1)) close(track, track.phases[level + 1], slot.head.time, out);
  close(track, track.spans[level], slot.head.time, out);
  track.open_phases &= below(level + 1);
  track.open_spans &= below(level);
}

void Decoder::phase(Track& track, const dmprof_slot& slot, std::vector<Event>& out) {
  const unsigned level = slot.head.code;
  track.counts.unfinished += forget_from(track.open_spans, level) + forget_from(track.open_phases, level + 1);
  if (is_open(track.open_phases, level)) close(track, track.phases[level], slot.head.time, out);
  track.open_phases &= below(level);
  if (slot.head.name == 0) return;
  track.phases[level] = {slot.head.time, slot.a, slot.b, name(slot.head.name), count(track.open_spans) + count(track.open_phases)};
  track.open_phases |= 1ull << level;
}

}  // namespace dmprof::decode
