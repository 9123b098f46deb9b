#include "samples/simcard/speculation/predictor.h"

namespace dmprof::simcard {
namespace {

// Tokens and blocks share the matrix's space of ids.
cachemodel::BlockId node(Context context, std::uint32_t layer) {
  return std::uint64_t{1} << 63 | std::uint64_t{context} << 16 | layer;
}

}  // namespace

Predictor::Predictor(const PredictorParameters& parameters)
    : min_probability_(parameters.min_probability),
      matrix_({.order = 1, .max_rows = parameters.rows, .max_successors = 32, .decay_at = 256}) {}

void Predictor::learn(Context context, std::uint32_t layer, const std::vector<BlockNumber>& blocks) {
  for (const BlockNumber block : blocks) {
    matrix_.forget_position();
    matrix_.observe(node(context, layer));
    matrix_.observe(block);
  }
  matrix_.forget_position();
}

void Predictor::predict(Context context, std::uint32_t layer, std::vector<BlockNumber>& blocks) const {
  const cachemodel::Distribution start{{{std::nullopt, node(context, layer)}, 1.0}};
  for (const cachemodel::State& state :
       matrix_.advance(start, cachemodel::TransitionMatrix::kMaxStates, min_probability_)) {
    blocks.push_back(state.position.current);
  }
}

}  // namespace dmprof::simcard
