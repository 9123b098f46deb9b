#include "samples/simcard/memory/channels.h"

#include <algorithm>

#include "samples/simcard/core/random.h"

namespace dmprof::simcard {

Channels::Channels(const MemoryParameters& parameters)
    : parameters_(parameters),
      channel_bandwidth_(parameters.l2_bandwidth / parameters.l2_channels),
      piece_time_(time_for(static_cast<double>(parameters.interleave), channel_bandwidth_)),
      free_(parameters.l2_channels, 0),
      open_row_(std::size_t{parameters.l2_channels} * parameters.l2_banks, UINT64_MAX) {}

// Blocks lie at addresses spread by a hash, as an allocator would have left them; pieces follow one another.
SimTime Channels::read(SimTime now, std::uint64_t block, std::uint64_t bytes) {
  const std::uint64_t place = mix(block, 0);
  std::uint64_t* const open_row = &open_row_[(place >> 32) % parameters_.l2_banks * free_.size()];
  std::size_t channel = place % free_.size();
  SimTime done = now;
  std::uint64_t row = place + closed_by_streams_;
  for (std::uint64_t left = bytes; left > 0; ++row) {
    const std::uint64_t size = std::min(left, parameters_.interleave);
    left -= size;
    const bool hit = open_row[channel] == row;
    ++(hit ? statistics_.row_hits : statistics_.row_misses);
    open_row[channel] = row;
    const SimTime length =
        (size == parameters_.interleave ? piece_time_ : time_for(static_cast<double>(size), channel_bandwidth_)) +
        (hit ? 0 : parameters_.row_miss);
    free_[channel] = std::max(free_[channel], now) + length;
    statistics_.busy += length;
    done = std::max(done, free_[channel]);
    if (++channel == free_.size()) channel = 0;
  }
  statistics_.bytes += bytes;
  return done + parameters_.l2_latency;
}

std::uint64_t Channels::moved(SimTime now) const {
  double left = 0;
  for (const SimTime free : free_) left += seconds(std::max<SimTime>(0, free - now)) * channel_bandwidth_;
  const double moved = static_cast<double>(statistics_.bytes) - left;
  return moved > 0 ? static_cast<std::uint64_t>(moved) : 0;
}

SimTime Channels::stream(SimTime now, std::uint64_t bytes) {
  if (bytes == 0) return now;
  const std::uint64_t share = bytes / free_.size() + (bytes % free_.size() != 0 ? 1 : 0);
  const SimTime length = time_for(static_cast<double>(share), channel_bandwidth_) + parameters_.row_miss;
  SimTime done = now;
  for (SimTime& free : free_) {
    free = std::max(free, now) + length;
    done = std::max(done, free);
  }
  // Every bank of every channel has another row open now: rows get names that no open one has.
  closed_by_streams_ += 0x9e3779b97f4a7c15;
  statistics_.busy += length * static_cast<SimTime>(free_.size());
  statistics_.row_misses += free_.size();
  statistics_.bytes += bytes;
  return done + parameters_.l2_latency;
}

}  // namespace dmprof::simcard
