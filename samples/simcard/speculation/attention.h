// Which blocks of a sequence's KV a token reads where attention is sparse: the newest one, and others that its context
// selects layer by layer. Early ones are selected more often; a sequence that grows keeps most of its choices, and a
// share of them depends on more than the context shows.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/simcard/speculation/selection.h"

namespace dmprof::simcard {

struct AttentionParameters {
  std::uint64_t attended = 0;   // tokens that a token reads at most; 0: all of them, streamed past the caches
  std::uint32_t kv_block = 64;  // tokens of a block
};

class Attention {
 public:
  // `noise`: share of the choices that the context does not explain.
  Attention(const AttentionParameters& parameters, double noise, std::uint64_t seed);

  bool sparse() const { return parameters_.attended > 0; }
  // Appends the blocks that a token reads of the `length` tokens before it (some maybe twice). Ids differ from those of
  // parameter blocks, and between sequences and layers of one card.
  void append(std::uint64_t sequence, std::uint64_t length, Context context, std::uint64_t occasion,
              std::uint32_t layer, std::vector<BlockNumber>& blocks) const;

 private:
  AttentionParameters parameters_;
  double noise_;
  std::uint64_t seed_;
};

constexpr std::uint32_t kMostKvBlocks = 1 << 20;  // of a sequence in a layer
// The id of a block, and which of its sequence's blocks in its layer it is.
BlockNumber kv_block(std::uint64_t sequence, std::uint32_t layer, std::uint64_t index);
std::uint64_t kv_index(BlockNumber block);

constexpr BlockNumber kKvBlocks = BlockNumber{1} << 62;  // ids from here on are KV
constexpr bool is_kv(BlockNumber block) { return (block & kKvBlocks) != 0; }

}  // namespace dmprof::simcard
