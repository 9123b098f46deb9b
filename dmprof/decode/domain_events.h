// Decoding of the events that take more than one slot. Used by the decoder only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dmprof/decode/clock_map.h"
#include "dmprof/event/event.h"
#include "dmprof/sdk/abi.h"

namespace dmprof::decode {

struct Context {
  TrackId track;
  const ClockMap& clock;
  NameId name;                    // translated, where the kind has one
  std::span<const TierId> tiers;  // by the engine's id
};

enum class Verdict { good, contradictory, malformed };

// Slots an event of this kind takes; 0 for a kind that does not exist.
std::size_t slots_of(std::uint8_t kind);

// `slot` has as many slots behind it as its kind takes. Appends to `out` only when good.
Verdict decode_domain_event(const Context& context, const dmprof_slot* slot, std::vector<Event>& out);

}  // namespace dmprof::decode
