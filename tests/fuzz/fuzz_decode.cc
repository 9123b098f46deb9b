// Ring slots as a hostile engine could write them: everything handed in is decoded or counted.
#include <cstdlib>
#include <cstring>

#include "dmprof/decode/decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<dmprof_slot> slots(size / sizeof(dmprof_slot));
  if (slots.empty()) return 0;
  std::memcpy(slots.data(), data, slots.size() * sizeof(dmprof_slot));
  const dmprof::decode::ClockMap clock(1000, 1000, 0.5);
  dmprof::decode::Decoder decoder;
  decoder.add_name(1);
  decoder.set_tier(1, 1);
  for (std::uint16_t index = 0; index < 8; ++index) decoder.bind(index, index + 1u, clock);
  std::vector<dmprof::Event> events;
  if (decoder.decode(slots, true, events) != slots.size()) std::abort();
  std::uint64_t decoded = 0;
  for (std::uint16_t index = 0; index < 8; ++index) decoded += decoder.unbind(index).decoded;
  if (decoded != events.size()) std::abort();
  return 0;
}
