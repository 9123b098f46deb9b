// The channels and banks of L2. A read occupies the channels that its pieces lie on; reads that meet on a channel queue
// there, so that the achieved bandwidth falls below the peak by collisions and row misses: nothing else bounds it.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/simcard/memory/parameters.h"

namespace dmprof::simcard {

struct ChannelStatistics {
  std::uint64_t bytes = 0;  // asked for; Channels::moved() says how many of them have come
  std::uint64_t row_hits = 0, row_misses = 0;
  SimTime busy = 0;  // of all channels together
};

class Channels {
 public:
  explicit Channels(const MemoryParameters& parameters);

  // When the last byte of `block` arrives if the request is made at `now`.
  SimTime read(SimTime now, std::uint64_t block, std::uint64_t bytes);
  // A sequential stream over all channels (dense weights, KV), rows in order.
  SimTime stream(SimTime now, std::uint64_t bytes);

  const ChannelStatistics& statistics() const { return statistics_; }
  // Bytes that have crossed the channels by `now`, which is not before the last request. What a channel has yet to do
  // is taken at its full rate, so that time lost to row misses makes this too little and never too much: in no stretch
  // of time does it grow by more than the peak bandwidth gives.
  std::uint64_t moved(SimTime now) const;

 private:
  const MemoryParameters parameters_;
  double channel_bandwidth_;
  SimTime piece_time_;                   // of a whole piece
  std::vector<SimTime> free_;            // when each channel is
  std::vector<std::uint64_t> open_row_;  // bank by bank, of each channel
  std::uint64_t closed_by_streams_ = 0;
  ChannelStatistics statistics_;
};

}  // namespace dmprof::simcard
