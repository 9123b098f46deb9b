// Weights that do not fit into the cards' memory: where they lie, and how long a pass waits for them, layer by layer.
//
// Dense layers come in a known order, so that a pass asks for all it lacks when it begins and waits only for what is
// late. Experts are known when their layer is reached: the memory left to them is a cache (least recently used goes;
// weights need no writing back, a tier keeps every expert), and what a step meets and the cache lacks is read then.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dmprof/cachemodel/cache.h"
#include "samples/simcard/core/random.h"
#include "samples/simcard/node/storage.h"
#include "samples/simcard/serve/step.h"

namespace dmprof::simcard {

// When a pass ends that begins at `now` and takes `compute` s with all weights at hand: its `layers` each need the same
// share of `bytes`, which come from `storage` in these shares.
SimTime end_of_pass(double compute, std::int64_t layers, double bytes, const std::vector<double>& shares,
                    Storage& storage, SimTime now);
// The same on a machine that does nothing else, in seconds; nothing where its tiers cannot hold what its memory leaves
// over.
std::optional<double> pass_seconds(const Hardware& hardware, const Model& model, const StepCost& cost, double kv);

class ColdWeights {
 public:
  // `kv_share` of the memory is kept from the weights where they would fill it; `skew` is the experts' popularity
  // (Zipf).
  ColdWeights(const Hardware& hardware, const Model& model, double kv_share, double skew, std::uint64_t seed,
              Storage& storage);

  // False: the tiers cannot hold what the memory does not.
  bool held() const { return held_; }
  bool any() const { return cold_.dense > 0 || cold_.experts > 0; }
  double resident_bytes() const { return resident_; }

  // Routes the tokens of the coming pass, where experts are cold. Changes what step_cost() is to be asked.
  void route(double tokens, Parallel& parallel, Cold& cold);
  // When the pass that was routed last ends, begun now.
  SimTime end(const StepCost& cost, SimTime now);

  std::uint64_t expert_hits() const { return hits_; }
  std::uint64_t expert_misses() const { return misses_; }

 private:
  void warm_up();
  void draw(std::int64_t tokens, std::vector<bool>& met);

  const Model& model_;
  Storage& storage_;
  Cold cold_;
  double resident_ = 0, expert_bytes_ = 0;
  bool held_ = true;
  std::vector<double> shares_;  // of each tier in what is cold
  std::unique_ptr<cachemodel::BlockCache> cache_;
  Discrete popularity_;
  Random random_;
  std::vector<double> missed_;  // bytes by layer with experts, of the pass that was routed last
  std::uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace dmprof::simcard
