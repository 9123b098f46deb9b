#include "samples/simcard/speculation/attention.h"

#include <algorithm>
#include <bit>

namespace dmprof::simcard {
namespace {

// Bits of an id: sequence (modulo; what wraps was evicted long ago), layer, block of the sequence.
constexpr unsigned kBlockBits = 22, kLayerBits = 12, kSequenceBits = 28;
constexpr int kMostTries = 8;

double unit(std::uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

}  // namespace

BlockNumber kv_block(std::uint64_t sequence, std::uint32_t layer, std::uint64_t index) {
  return kKvBlocks | (sequence & ((1u << kSequenceBits) - 1)) << (kBlockBits + kLayerBits) |
         std::uint64_t{layer} << kBlockBits | index;
}

std::uint64_t kv_index(BlockNumber block) { return block & ((1u << kBlockBits) - 1); }

Attention::Attention(const AttentionParameters& parameters, double noise, std::uint64_t seed)
    : parameters_(parameters), noise_(noise), seed_(mix(seed, 0x6b76)) {}

void Attention::append(std::uint64_t sequence, std::uint64_t length, Context context, std::uint64_t occasion,
                       std::uint32_t layer, std::vector<BlockNumber>& blocks) const {
  if (!sparse() || length == 0) return;
  const std::uint64_t size = parameters_.kv_block;
  const std::uint64_t count = (length + size - 1) / size;
  const std::uint64_t reads = std::min(count, (parameters_.attended + size - 1) / size);
  blocks.push_back(kv_block(sequence, layer, count - 1));
  if (reads == count) {
    for (std::uint64_t index = 0; index + 1 < count; ++index) blocks.push_back(kv_block(sequence, layer, index));
    return;
  }
  const std::uint64_t own = mix(mix(seed_ ^ context, sequence), layer);
  // Choices are made among a power of two of blocks, those that are not there yet made again: so growth moves few.
  const auto range = static_cast<double>(std::bit_ceil(count));
  for (std::uint64_t choice = 1; choice < reads; ++choice) {
    std::uint64_t draw = mix(own, choice);
    const std::uint64_t chance = mix(draw, occasion);
    if (unit(chance) < noise_) draw = mix(chance, 1);
    std::uint64_t index = 0;
    for (int i = 0; i < kMostTries; ++i, draw = mix(draw, 2)) {
      const double u = unit(draw);
      index = static_cast<std::uint64_t>(u * u * range);
      if (index + 1 < count) break;
    }
    blocks.push_back(kv_block(sequence, layer, std::min(index, count - 2)));
  }
}

}  // namespace dmprof::simcard
