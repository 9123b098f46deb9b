// The bytes of KV cache: in the cards' memory, beside the weights, and in the tiers behind it. Who goes and who comes
// back is the node's decision; this keeps the accounts and asks the tiers for time. Bytes never exceed the room.
#pragma once

#include <optional>

#include "samples/simcard/node/storage.h"
#include "samples/simcard/serve/sequence.h"

namespace dmprof::simcard {

class KvMemory {
 public:
  KvMemory(double room, double token_bytes, Storage& storage)
      : room_(room), token_bytes_(token_bytes), storage_(storage) {}

  double room() const { return room_; }
  double used() const { return used_; }
  double peak() const { return peak_; }
  // Bytes that stay once everything that is leaving has left.
  double staying() const { return used_ - leaving_; }
  double bytes(std::int64_t tokens) const { return static_cast<double>(tokens) * token_bytes_; }
  bool fits(double bytes) const { return used_ + bytes <= room_; }

  // The cache of `s` comes to be in memory, or grows by `tokens` there.
  void make(Sequence& s);
  void grow(Sequence& s, std::int64_t tokens);
  // It is not needed any more, or forgotten.
  void drop(Sequence& s);

  // Out of memory into the first tier with room; the time when it is there, then call left(). Nothing where no tier has
  // room.
  std::optional<SimTime> send_out(Sequence& s, SimTime now);
  // The same from the node that made it, past the cards' memory.
  std::optional<SimTime> put_aside(Sequence& s, SimTime now);
  void left(Sequence& s);
  // Back into memory, which must have room; the time when it is there, then call came_back().
  SimTime bring_back(Sequence& s, SimTime now);
  void came_back(Sequence& s);

 private:
  void take(double bytes);
  std::optional<SimTime> write(Sequence& s, KvPlace place, SimTime now);

  double room_, token_bytes_;
  Storage& storage_;
  double used_ = 0, peak_ = 0, leaving_ = 0;
};

}  // namespace dmprof::simcard
