#include "samples/simcard/speculation/predictor.h"

#include <algorithm>

#include "dmprof/cachemodel/successors.h"

namespace dmprof::simcard {

struct Predictor::Row {
  Cell* head;

  Cell* begin() { return head + 1; }
  Cell* end() { return begin() + head->block; }
  std::size_t size() const { return head->block; }
  Cell& back() { return end()[-1]; }
  void push_back(Cell cell) { *end() = cell, ++head->block; }
  void pop_back() { --head->block; }
  void resize(std::size_t size) { head->block = static_cast<std::uint32_t>(size); }
};

Predictor::Predictor(const PredictorParameters& parameters, const SelectionParameters& selection)
    : min_probability_(parameters.min_probability),
      most_rows_(std::max<std::size_t>(parameters.rows, 2)),
      layers_(selection.layers),
      blocks_(selection.blocks) {}

void Predictor::link_newest(std::uint32_t index) {
  Entry& entry = entries_[index];
  entry.older = newest_;
  entry.newer = kNobody;
  (newest_ == kNobody ? oldest_ : entries_[newest_].newer) = index;
  newest_ = index;
}

void Predictor::unlink(std::uint32_t index) {
  const Entry& entry = entries_[index];
  (entry.older == kNobody ? oldest_ : entries_[entry.older].newer) = entry.newer;
  (entry.newer == kNobody ? newest_ : entries_[entry.newer].older) = entry.older;
}

// Rows go one by one, those of earlier layers first: they were updated longest ago.
void Predictor::give_up_oldest() {
  Entry& entry = entries_[oldest_];
  --rows_;
  if (++entry.first < layers_) return;
  const std::uint32_t index = oldest_;
  unlink(index);
  index_.erase(entry.context);
  entry.cells.reset();
  free_.push_back(index);
}

// The context's entry, whole and the newest. One that gave up some of its rows already starts anew: by the time that
// learning reached the rows it still has, those would have made room for its first ones.
std::uint32_t Predictor::touch(Context context) {
  if (const std::uint32_t* const found = index_.find(context); found != nullptr) {
    const std::uint32_t index = *found;
    if (entries_[index].first == 0) {
      unlink(index);
      link_newest(index);
      return index;
    }
    while (index_.contains(context)) give_up_oldest();
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Entry& entry = entries_[index];
  entry.context = context;
  entry.first = 0;
  entry.capacity = 3;
  entry.cells = std::make_unique<Cell[]>(std::size_t{layers_} * (1 + entry.capacity));
  index_[context] = index;
  link_newest(index);
  rows_ += layers_;
  return index;
}

void Predictor::widen(Entry& entry) const {
  const std::uint32_t before = 1 + entry.capacity;
  entry.capacity = std::min(entry.capacity * 2 + 1, kMostSuccessors);
  const std::uint32_t after = 1 + entry.capacity;
  auto cells = std::make_unique<Cell[]>(std::size_t{layers_} * after);
  for (std::uint32_t layer = 0; layer < layers_; ++layer)
    std::copy_n(&entry.cells[std::size_t{layer} * before], before, &cells[std::size_t{layer} * after]);
  entry.cells = std::move(cells);
}

void Predictor::learn(Context context, std::span<const BlockNumber> blocks) {
  if (blocks.empty()) return;
  const std::size_t per_layer = blocks.size() / layers_;
  Entry& entry = entries_[touch(context)];
  for (std::uint32_t layer = 0; layer < layers_; ++layer) {
    for (std::size_t i = 0; i < per_layer; ++i) {
      const auto block = static_cast<std::uint32_t>(blocks[layer * per_layer + i] - std::uint64_t{layer} * blocks_);
      Row row{&entry.cells[std::size_t{layer} * (1 + entry.capacity)]};
      if (row.size() == entry.capacity && entry.capacity < kMostSuccessors) {
        widen(entry);
        row = {&entry.cells[std::size_t{layer} * (1 + entry.capacity)]};
      }
      std::uint32_t total = row.head->count;
      cachemodel::count_successor(row, total, block, kMostSuccessors, kDecayAt);
      row.head->count = total;
    }
  }
  while (rows_ > most_rows_) give_up_oldest();
}

void Predictor::predict(Context context, std::uint32_t first_layer, std::vector<BlockNumber>& blocks) const {
  const std::uint32_t* const index = index_.find(context);
  if (index == nullptr) return;
  const Entry& entry = entries_[*index];
  for (std::uint32_t layer = std::max(first_layer, entry.first); layer < layers_; ++layer) {
    const Cell* const row = &entry.cells[std::size_t{layer} * (1 + entry.capacity)];
    const std::size_t before = blocks.size();
    for (std::uint32_t i = 1; i <= row->block; ++i) {
      if (1.0 * row[i].count / row->count < min_probability_) break;  // the others are rarer still
      blocks.push_back(std::uint64_t{layer} * blocks_ + row[i].block);
    }
    std::sort(blocks.begin() + static_cast<std::ptrdiff_t>(before), blocks.end());
  }
}

}  // namespace dmprof::simcard
