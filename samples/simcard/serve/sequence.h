// One request on its way through the node.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dmprof/workload/request.h"
#include "samples/simcard/core/time.h"

namespace dmprof::simcard {

// Where a sequence's KV cache is.
enum class KvPlace : std::uint8_t {
  none,      // not made yet, dropped, or still on the node that made it
  memory,    // of the cards
  leaving,   // being written to a tier; takes memory until it is there
  passing,   // being written to a tier past the memory
  stored,    // in a tier
  arriving,  // being read back; takes memory from the beginning
};

struct Sequence {
  workload::Request request;
  SimTime arrived = 0, drafting = 0, first = 0, last = 0;
  std::int64_t emitted = 0;
  double prefill = 0;  // s still owed on the decoding cards
  KvPlace place = KvPlace::none;
  double kv = 0;         // bytes, where it is anywhere
  std::size_t tier = 0;  // of `leaving`, `stored` and `arriving`

  bool admitted = false;  // for the first time; a preempted sequence was admitted before

  std::int64_t length() const { return request.prompt_tokens + emitted; }
};

}  // namespace dmprof::simcard
