#include "samples/simcard/memory/channels.h"

#include <algorithm>

#include "samples/simcard/core/random.h"

namespace dmprof::simcard {
namespace {

constexpr std::uint64_t kNoRow = UINT64_MAX;

}  // namespace

Channels::Channels(const MemoryParameters& parameters)
    : parameters_(parameters),
      channel_bandwidth_(parameters.l2_bandwidth / parameters.l2_channels),
      channels_(parameters.l2_channels) {
  for (Channel& channel : channels_) channel.open_row.assign(parameters.l2_banks, kNoRow);
}

SimTime Channels::occupy(Channel& channel, SimTime from, std::uint64_t bytes, SimTime extra) {
  const SimTime length = time_for(static_cast<double>(bytes), channel_bandwidth_) + extra;
  channel.free = std::max(channel.free, from) + length;
  statistics_.busy += seconds(length);
  return channel.free;
}

// Blocks lie at addresses spread by a hash, as an allocator would have left them; pieces follow one another.
SimTime Channels::read(SimTime now, std::uint64_t block, std::uint64_t bytes) {
  const std::uint64_t place = mix(block, 0);
  SimTime done = now;
  std::uint64_t piece = 0;
  for (std::uint64_t left = bytes; left > 0; ++piece) {
    const std::uint64_t size = std::min(left, parameters_.interleave);
    left -= size;
    Channel& channel = channels_[(place + piece) % channels_.size()];
    std::uint64_t& open = channel.open_row[(place >> 32) % channel.open_row.size()];
    const std::uint64_t row = place + piece;
    const bool hit = open == row;
    ++(hit ? statistics_.row_hits : statistics_.row_misses);
    open = row;
    done = std::max(done, occupy(channel, now, size, hit ? 0 : parameters_.row_miss));
  }
  statistics_.bytes += bytes;
  return done + parameters_.l2_latency;
}

SimTime Channels::stream(SimTime now, std::uint64_t bytes) {
  if (bytes == 0) return now;
  const std::uint64_t share = bytes / channels_.size() + (bytes % channels_.size() != 0 ? 1 : 0);
  SimTime done = now;
  for (Channel& channel : channels_) {
    std::fill(channel.open_row.begin(), channel.open_row.end(), kNoRow);
    done = std::max(done, occupy(channel, now, share, parameters_.row_miss));
  }
  statistics_.row_misses += channels_.size();
  statistics_.bytes += bytes;
  return done + parameters_.l2_latency;
}

}  // namespace dmprof::simcard
