// The time, bytes and FLOPs of one step of a node, layer by layer: the roofline of each card, and what cards say to
// each other.
#pragma once

#include <cstdint>

#include "samples/simcard/model/model.h"
#include "samples/simcard/node/hardware.h"

namespace dmprof::simcard {

struct Parallel {
  // Tensor parallel over all cards of the node: every layer's weights and cache are spread evenly, two all-reduces a
  // layer. Experts are spread too (expert parallel): tokens travel to them and back, all-to-all, twice per layer with
  // experts.
  double expert_imbalance = 1;       // max / mean tokens a card; stretches expert compute and all-to-all
  double expert_byte_imbalance = 1;  // max / mean experts met a card; stretches the reading of expert weights
  double experts_met = 0;            // a layer and step; 0: as many as even routing meets
  double activation_bytes = 2;       // per element on the links
  double streamed_weights = 0;       // share of the weights that comes over the link every step (parameter servers)
  // Pipeline parallel: the layers are cut into this many stages of cards / stages tensor-parallel cards each. The batch
  // is cut into as many micro batches (one sequence at least), which each read the weights; the bubble is
  // (S-1)/(M+S-1).
  std::int64_t pipeline_stages = 1;
};

struct StepCost {
  double memory = 0, compute = 0;         // s that each would take alone
  double roofline = 0;                    // s, sum over layers of the slower one
  double all_reduce = 0, all_to_all = 0;  // s
  double streaming = 0;                   // s for weights over the link, beyond what the roofline hides
  double hops = 0;                        // s between pipeline stages
  // Without waiting for weights that lie in tiers: that depends on what else they are asked for (cold_weights.h).
  double total() const { return roofline + all_reduce + all_to_all + streaming + hops; }
  double memory_bytes = 0, link_bytes = 0, flops = 0;  // of the whole node
  double cold_bytes = 0;                               // weights that come from the tiers instead of memory
};

// The share of the weights that does not fit beside `kv` bytes of cache. Experts leave before the rest.
struct Cold {
  double dense = 0, experts = 0;
};
Cold cold_share(const Hardware& hardware, const Model& model, double kv);

// A pass of `sequences` x `tokens` new tokens at `context` cached ones.
StepCost step_cost(const Hardware& hardware, const Model& model, const Parallel& parallel, double sequences,
                   double tokens, double context, const Cold& cold = {});

// Prefill of one prompt: every token attends to those before it (half the prompt on average).
StepCost prefill_cost(const Hardware& hardware, const Model& model, const Parallel& parallel, double prompt);

}  // namespace dmprof::simcard
