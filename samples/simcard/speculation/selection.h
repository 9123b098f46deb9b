// Which blocks a token needs. A token's context (its class and the one before) selects, layer by layer, a few of the
// layer's blocks: experts, sparse parameter blocks, heads of sparse attention. Popular blocks are selected more often;
// a share of the choices depends on more context than two tokens show, and looks random.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/simcard/core/random.h"
#include "samples/simcard/speculation/text.h"

namespace dmprof::simcard {

using BlockNumber = std::uint64_t;

inline constexpr std::uint32_t most_blocks = 1 << 14;  // of a layer: a draw is one of as many quantiles

struct SelectionParameters {
  std::uint32_t layers = 36;
  std::uint32_t blocks = 256;   // of a layer; 0: the model is dense
  std::uint32_t per_token = 4;  // choices of a token in a layer
  double skew = 0.6;            // popularity of a block falls with rank^-skew
  double noise = 0.05;          // share of the choices that the context does not explain
};

class Selection {
 public:
  Selection(const SelectionParameters& parameters, std::uint64_t seed);

  // Appends the blocks, each once. `occasion` tells one use of the context from another: sequence and position.
  void append(Context context, std::uint64_t occasion, std::uint32_t layer, std::vector<BlockNumber>& blocks) const;
  BlockNumber block(std::uint32_t layer, std::uint32_t index) const { return std::uint64_t{layer} * blocks_ + index; }
  const SelectionParameters& parameters() const { return parameters_; }

 private:
  SelectionParameters parameters_;
  // The block of the layer that a draw stands for.
  std::uint32_t place(std::uint64_t draw, std::uint32_t layer) const;

  std::uint32_t blocks_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> quantiles_;  // of the popularity distribution: rank by probability
  std::vector<std::uint32_t> shift_;      // of a layer: every layer has popular blocks of its own
};

}  // namespace dmprof::simcard
