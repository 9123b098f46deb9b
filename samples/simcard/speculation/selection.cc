#include "samples/simcard/speculation/selection.h"

#include <algorithm>
#include <numeric>

namespace dmprof::simcard {
namespace {

constexpr std::size_t kQuantiles = most_blocks;
constexpr int kRedraws = 8;

}  // namespace

Selection::Selection(const SelectionParameters& parameters, std::uint64_t seed)
    : parameters_(parameters), blocks_(parameters.blocks), seed_(mix(seed, 0x73656c656374)) {
  if (blocks_ == 0) return;
  const std::vector<double> weights = zipf_weights(blocks_, parameters.skew);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  quantiles_.resize(kQuantiles);
  double below = weights[0];
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    while (rank + 1 < blocks_ && below < (static_cast<double>(i) + 0.5) / kQuantiles * sum) below += weights[++rank];
    quantiles_[i] = rank;
  }
  for (std::uint32_t layer = 0; layer < parameters_.layers; ++layer)
    shift_.push_back(static_cast<std::uint32_t>(mix(seed_, layer) % blocks_));
}

std::uint32_t Selection::place(std::uint64_t draw, std::uint32_t layer) const {
  const std::uint32_t shifted = quantiles_[draw % kQuantiles] + shift_[layer];
  return shifted < blocks_ ? shifted : shifted - blocks_;
}

void Selection::append(Context context, std::uint64_t occasion, std::uint32_t layer,
                       std::vector<BlockNumber>& blocks) const {
  if (blocks_ == 0) return;
  const std::uint64_t own = mix(seed_ ^ context, layer);
  const std::size_t before = blocks.size();
  const auto taken = [&](BlockNumber number) {
    return std::find(blocks.begin() + static_cast<std::ptrdiff_t>(before), blocks.end(), number) != blocks.end();
  };
  for (std::uint32_t choice = 0; choice < parameters_.per_token; ++choice) {
    std::uint64_t draw = mix(own, choice);
    const std::uint64_t chance = mix(draw, occasion);
    if (static_cast<double>(chance >> 11) * 0x1p-53 < parameters_.noise) draw = mix(chance, 1);
    std::uint32_t index = place(draw, layer);
    // One that is taken already is drawn again; where few are left that would last, and the next one is taken.
    for (int again = 0; again < kRedraws && taken(block(layer, index)); ++again)
      index = place(draw = mix(draw, 2), layer);
    while (taken(block(layer, index))) index = index + 1 < blocks_ ? index + 1 : 0;
    blocks.push_back(block(layer, index));
  }
}

}  // namespace dmprof::simcard
