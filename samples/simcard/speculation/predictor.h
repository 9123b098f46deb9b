// The transition matrix of the speculation engines: which blocks follow a token. It learns online from the branches
// that verification takes, in bounded memory; what it never saw it cannot predict.
#pragma once

#include <cstdint>
#include <vector>

#include "dmprof/cachemodel/transition.h"
#include "samples/simcard/speculation/selection.h"

namespace dmprof::simcard {

struct PredictorParameters {
  std::size_t rows = 1 << 16;     // (context, layer) pairs remembered; the one updated longest ago makes room
  double min_probability = 0.05;  // a block is predicted where its share of what followed is at least this
};

class Predictor {
 public:
  explicit Predictor(const PredictorParameters& parameters);

  void learn(Context context, std::uint32_t layer, const std::vector<BlockNumber>& blocks);
  // Appends the predicted blocks, in order of their numbers.
  void predict(Context context, std::uint32_t layer, std::vector<BlockNumber>& blocks) const;
  std::size_t rows() const { return matrix_.rows(); }

 private:
  double min_probability_;
  cachemodel::TransitionMatrix matrix_;
};

}  // namespace dmprof::simcard
