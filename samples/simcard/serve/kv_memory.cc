#include "samples/simcard/serve/kv_memory.h"

#include <algorithm>

namespace dmprof::simcard {

void KvMemory::take(double bytes) {
  used_ += bytes;
  peak_ = std::max(peak_, used_);
}

void KvMemory::make(Sequence& s) {
  s.kv = bytes(s.length());
  s.place = KvPlace::memory;
  take(s.kv);
}

void KvMemory::grow(Sequence& s, std::int64_t tokens) {
  s.kv += bytes(tokens);
  take(bytes(tokens));
}

void KvMemory::drop(Sequence& s) {
  used_ -= s.kv;
  s.kv = 0;
  s.place = KvPlace::none;
}

std::optional<SimTime> KvMemory::write(Sequence& s, KvPlace place, SimTime now) {
  const std::optional<std::size_t> tier = storage_.tier_for(s.kv);
  if (!tier) return std::nullopt;
  s.tier = *tier;
  s.place = place;
  return storage_[*tier].write(s.kv, now);
}

std::optional<SimTime> KvMemory::send_out(Sequence& s, SimTime now) {
  const std::optional<SimTime> done = write(s, KvPlace::leaving, now);
  if (done) leaving_ += s.kv;
  return done;
}

std::optional<SimTime> KvMemory::put_aside(Sequence& s, SimTime now) {
  s.kv = bytes(s.length());
  const std::optional<SimTime> done = write(s, KvPlace::passing, now);
  if (!done) s.kv = 0;
  return done;
}

void KvMemory::left(Sequence& s) {
  if (s.place == KvPlace::leaving) {
    leaving_ -= s.kv;
    used_ -= s.kv;
  }
  s.place = KvPlace::stored;
}

SimTime KvMemory::bring_back(Sequence& s, SimTime now) {
  take(s.kv);
  s.place = KvPlace::arriving;
  return storage_[s.tier].read(s.kv, now);
}

void KvMemory::came_back(Sequence& s) {
  storage_[s.tier].release(s.kv);
  s.place = KvPlace::memory;
}

}  // namespace dmprof::simcard
