// The transition matrix of the speculation engines: which blocks follow a token, layer by layer. It learns online from
// the branches that verification takes, in bounded memory; what it never saw it cannot predict.
//
// It is cachemodel's matrix with rows (token, layer), and counts by the same rule (successors.h). A token's rows are
// always learned and asked together, so they lie side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dmprof/base/flat_map.h"
#include "samples/simcard/speculation/selection.h"

namespace dmprof::simcard {

struct PredictorParameters {
  std::size_t rows = 1 << 16;     // (context, layer) pairs remembered; the one updated longest ago makes room
  double min_probability = 0.05;  // a block is predicted where its share of what followed is at least this
};

class Predictor {
 public:
  Predictor(const PredictorParameters& parameters, const SelectionParameters& selection);

  // `blocks`: what a token needed, layer after layer, as many in each.
  void learn(Context context, std::span<const BlockNumber> blocks);
  // Appends the predicted blocks of the layers from `first_layer` on: by layer, then in order of their numbers.
  void predict(Context context, std::uint32_t first_layer, std::vector<BlockNumber>& blocks) const;
  std::size_t rows() const { return rows_; }

 private:
  static constexpr std::uint32_t kMostSuccessors = 32;
  static constexpr std::uint32_t kDecayAt = 256;
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  // A row in memory is a head, whose `block` is the row's size and whose `count` is its total, and `capacity`
  // successors.
  struct Cell {
    std::uint32_t block : 20;  // of the layer
    std::uint32_t count : 12;
  };
  struct Row;  // a view of one, for counting

  struct Entry {
    Context context = 0;
    std::uint32_t older = kNobody, newer = kNobody;
    std::uint32_t first = 0;     // rows of earlier layers were given up
    std::uint32_t capacity = 0;  // of a row
    std::unique_ptr<Cell[]> cells;
  };

  std::uint32_t touch(Context context);
  void link_newest(std::uint32_t index);
  void unlink(std::uint32_t index);
  void widen(Entry& entry) const;
  void give_up_oldest();

  double min_probability_;
  std::size_t most_rows_, rows_ = 0;
  std::uint32_t layers_, blocks_;
  FlatMap<std::uint32_t> index_;  // of a context's entry
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::uint32_t oldest_ = kNobody, newest_ = kNobody;
};

}  // namespace dmprof::simcard
