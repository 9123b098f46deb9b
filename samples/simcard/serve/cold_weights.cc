#include "samples/simcard/serve/cold_weights.h"

#include <algorithm>
#include <numeric>

#include "dmprof/cachemodel/policy.h"

namespace dmprof::simcard {

SimTime end_of_pass(double compute, std::int64_t layers, double bytes, const std::vector<double>& shares,
                    Storage& storage, SimTime now) {
  if (!(bytes > 0)) return now + from_seconds(compute);
  const auto n = static_cast<double>(layers);
  SimTime end = now;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    end = std::max(end, storage.read(bytes / n, shares, now)) + from_seconds(compute / n);
  return end;
}

std::optional<double> pass_seconds(const Hardware& hardware, const Model& model, const StepCost& cost, double kv) {
  Storage storage(hardware.tiers);
  const double held = parameters(model) * model.weight_bytes;
  const double spilled = std::max(0.0, held + kv - hardware.memory());
  const std::vector<double> shares = storage.place(spilled);
  if (spilled > 0 && shares.empty()) return std::nullopt;
  return seconds(end_of_pass(cost.total(), model.layers, cost.cold_bytes, shares, storage, 0));
}

ColdWeights::ColdWeights(const Hardware& hardware, const Model& model, double kv_share, double skew, std::uint64_t seed,
                         Storage& storage)
    : model_(model),
      storage_(storage),
      popularity_(zipf_weights(static_cast<std::size_t>(std::max<std::int64_t>(1, model.experts)), skew)),
      random_(seed, "cold experts") {
  const double weights = parameters(model) * model.weight_bytes;
  resident_ = weights;
  if (weights <= hardware.memory()) return;
  cold_ = cold_share(hardware, model, kv_share * hardware.memory());
  resident_ = (1 - kv_share) * hardware.memory();
  if (cold_.experts == 0) {
    shares_ = storage.place(weights - resident_);
  } else {
    expert_bytes_ = expert_parameters(model) * model.weight_bytes;
    const double experts = static_cast<double>(model.experts * model.expert_layers);
    shares_ = storage.place(experts * expert_bytes_ + cold_.dense * (weights - experts * expert_bytes_));
    cache_ = std::make_unique<cachemodel::BlockCache>(static_cast<std::uint64_t>(experts * (1 - cold_.experts)),
                                                      cachemodel::make_policy(cachemodel::PolicyKind::lru, {}, {}));
    missed_.assign(static_cast<std::size_t>(model.expert_layers), 0);
    warm_up();
  }
  held_ = !shares_.empty();
}

// The cache begins with the most popular experts of every layer, the most popular used last, so that a run shows the
// steady state and not its filling.
void ColdWeights::warm_up() {
  std::vector<cachemodel::Evicted> evicted;
  const auto layers = static_cast<std::uint64_t>(model_.expert_layers);
  for (std::uint64_t i = cache_->budget(); i-- > 0;) {
    const std::uint64_t expert = i / layers, layer = i % layers;
    cache_->admit(layer * static_cast<std::uint64_t>(model_.experts) + expert, 1, cachemodel::FetchCause::demand,
                  evicted);
  }
}

// The experts that `tokens` tokens meet in one layer, each token distinct ones.
void ColdWeights::draw(std::int64_t tokens, std::vector<bool>& met) {
  std::fill(met.begin(), met.end(), false);
  std::vector<std::size_t> mine;
  for (std::int64_t token = 0; token < tokens; ++token) {
    mine.clear();
    while (mine.size() < static_cast<std::size_t>(model_.active)) {
      const std::size_t expert = popularity_.draw(random_);
      if (std::find(mine.begin(), mine.end(), expert) != mine.end()) continue;
      mine.push_back(expert);
      met[expert] = true;
    }
  }
}

void ColdWeights::route(double tokens, Parallel& parallel, Cold& cold) {
  cold = cold_;
  if (!cache_) return;
  const auto experts = static_cast<std::size_t>(model_.experts);
  constexpr double enough = 4096;  // tokens: so many meet all experts that anybody meets
  double met = 0, missed = 0;
  std::vector<bool> here(experts);
  std::vector<cachemodel::Evicted> evicted;
  for (std::size_t layer = 0; layer < missed_.size(); ++layer) {
    draw(static_cast<std::int64_t>(std::min(tokens, enough)), here);
    missed_[layer] = 0;
    evicted.clear();
    for (std::size_t expert = 0; expert < experts; ++expert) {
      if (!here[expert]) continue;
      ++met;
      const cachemodel::BlockId block = layer * experts + expert;
      if (cache_->access(block).resident) {
        ++hits_;
        continue;
      }
      ++misses_;
      ++missed;
      missed_[layer] += expert_bytes_;
      cache_->admit(block, 1, cachemodel::FetchCause::demand, evicted);
    }
  }
  parallel.experts_met = met / static_cast<double>(missed_.size());
  cold.experts = met > 0 ? missed / met : 0;
}

SimTime ColdWeights::end(const StepCost& cost, SimTime now) {
  if (!any()) return now + from_seconds(cost.total());
  const double experts = std::accumulate(missed_.begin(), missed_.end(), 0.0);
  const double dense = std::max(0.0, cost.cold_bytes - experts);
  if (!cache_) return end_of_pass(cost.total(), model_.layers, dense, shares_, storage_, now);
  const auto layers = static_cast<std::size_t>(model_.layers);
  const SimTime each = from_seconds(cost.total() / static_cast<double>(layers));
  SimTime at = now;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (dense > 0) at = std::max(at, storage_.read(dense / static_cast<double>(layers), shares_, now));
    // The last layers are those with experts: a dense layer, where there is one, comes first.
    const std::size_t first = layers - missed_.size();
    if (layer >= first && missed_[layer - first] > 0) at = storage_.read(missed_[layer - first], shares_, at);
    at += each;
  }
  return at;
}

}  // namespace dmprof::simcard
