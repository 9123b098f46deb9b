#include "dmprof/cachemodel/transition.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "dmprof/cachemodel/successors.h"

namespace dmprof::cachemodel {
namespace {

// Sums equal positions and keeps the most probable ones.
void merge_and_prune(Distribution& states, std::size_t max_states) {
  if (states.size() < 2) return;
  std::sort(states.begin(), states.end(), [](const State& a, const State& b) { return a.position < b.position; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < states.size(); ++i) {
    if (states[i].position == states[kept].position) {
      states[kept].probability += states[i].probability;
    } else {
      states[++kept] = states[i];
    }
  }
  states.resize(kept + 1);
  if (states.size() <= max_states) return;
  std::stable_sort(states.begin(), states.end(),
                   [](const State& a, const State& b) { return a.probability > b.probability; });
  states.resize(max_states);
  std::sort(states.begin(), states.end(), [](const State& a, const State& b) { return a.position < b.position; });
}

}  // namespace

std::size_t TransitionMatrix::PositionHash::operator()(const Position& position) const {
  // Ids are small and dense: both halves are spread over the word before they meet.
  std::uint64_t hash = position.current * 0x9E3779B97F4A7C15ull;
  if (position.before) hash ^= (*position.before + 1) * 0xC2B2AE3D27D4EB4Full;
  return static_cast<std::size_t>(hash ^ (hash >> 29));
}

TransitionMatrix::TransitionMatrix(TransitionOptions options) : options_(options) {
  options_.order = std::clamp(options_.order, 1u, 2u);
  options_.max_rows = std::max<std::size_t>(options_.max_rows, 2);
  options_.max_successors = std::max<std::size_t>(options_.max_successors, 1);
  options_.decay_at = std::max<std::uint32_t>(options_.decay_at, 2);
}

void TransitionMatrix::observe(BlockId block) {
  ++observed_;
  if (position_) {
    learn({std::nullopt, position_->current}, block);
    if (position_->before) learn(*position_, block);
  }
  position_ = Position{position_ && options_.order == 2 ? std::optional(position_->current) : std::nullopt, block};
}

TransitionMatrix::Row& TransitionMatrix::touch_row(const Position& context) {
  const auto found = rows_.find(context);
  if (found != rows_.end()) {
    by_age_.splice(by_age_.end(), by_age_, found->second.age);
    return found->second;
  }
  if (rows_.size() >= options_.max_rows) {
    rows_.erase(by_age_.front());
    by_age_.pop_front();
  }
  by_age_.push_back(context);
  Row& row = rows_[context];
  row.age = std::prev(by_age_.end());
  return row;
}

void TransitionMatrix::learn(const Position& context, BlockId next) {
  Row& row = touch_row(context);
  count_successor(row.successors, row.total, next, options_.max_successors, options_.decay_at);
}

const TransitionMatrix::Row* TransitionMatrix::find(const Position& context) const {
  const auto found = rows_.find(context);
  return found == rows_.end() || found->second.successors.empty() ? nullptr : &found->second;
}

const TransitionMatrix::Row* TransitionMatrix::best_row(const Position& position) const {
  if (position.before) {
    if (const Row* row = find(position)) return row;
  }
  return find({std::nullopt, position.current});
}

std::optional<BlockId> TransitionMatrix::most_likely_next() const {
  const Row* row = position_ ? best_row(*position_) : nullptr;
  return row ? std::optional(row->successors.front().block) : std::nullopt;
}

Distribution TransitionMatrix::advance(const Distribution& from, std::size_t max_states, double negligible) const {
  Distribution next;
  for (const State& state : from) {
    const Row* row = best_row(state.position);
    if (!row) continue;
    const auto before = options_.order == 2 ? std::optional(state.position.current) : std::nullopt;
    for (const Successor& each : row->successors) {
      const double probability = state.probability * each.count / row->total;
      if (probability < negligible) break;  // the others are rarer still
      next.push_back({{before, each.block}, probability});
    }
  }
  merge_and_prune(next, max_states);
  return next;
}

std::vector<Predicted> TransitionMatrix::predict(std::uint32_t distance, std::size_t most,
                                                 double min_probability) const {
  struct Found {
    Predicted predicted;
    double best = 0;  // probability at predicted.distance
  };
  std::unordered_map<BlockId, Found> found;
  Distribution states;
  if (position_) states.push_back({*position_, 1.0});
  for (std::uint32_t step = 1; step <= distance && !states.empty(); ++step) {
    states = advance(states);
    for (const State& state : states) {
      Found& entry = found[state.position.current];
      entry.predicted.block = state.position.current;
      entry.predicted.probability = std::min(1.0, entry.predicted.probability + state.probability);
      if (state.probability > entry.best) {
        entry.best = state.probability;
        entry.predicted.distance = step;
      }
    }
  }
  std::vector<Predicted> result;
  for (const auto& [block, entry] : found) {
    if (entry.predicted.probability >= min_probability) result.push_back(entry.predicted);
  }
  std::sort(result.begin(), result.end(), [](const Predicted& a, const Predicted& b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    return a.probability != b.probability ? a.probability > b.probability : a.block < b.block;
  });
  if (result.size() > most) result.resize(most);
  return result;
}

double TransitionMatrix::probability(BlockId from, BlockId to) const {
  const Row* row = find({std::nullopt, from});
  if (!row) return 0;
  for (const Successor& each : row->successors) {
    if (each.block == to) return static_cast<double>(each.count) / row->total;
  }
  return 0;
}

}  // namespace dmprof::cachemodel
