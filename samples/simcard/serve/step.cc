#include "samples/simcard/serve/step.h"

#include <algorithm>

#include "samples/simcard/node/collectives.h"

namespace dmprof::simcard {

namespace {

// Tensor parallel over `h.cards`.
StepCost tensor_step(const Hardware& h, const Model& m, const Parallel& parallel, double sequences, double tokens,
                     double context, const Cold& cold) {
  const auto cards = static_cast<double>(h.cards);
  const auto layers = static_cast<double>(m.layers);
  const Pass work = pass(m, sequences, tokens, context);
  const double activations = sequences * tokens * static_cast<double>(m.hidden) * parallel.activation_bytes;
  StepCost cost;

  double weight_bytes = work.weight_bytes, expert_bytes = 0, expert_flops = 0;
  if (m.experts > 0) {
    const double even = experts_met(m, sequences * tokens),
                 met = parallel.experts_met > 0 ? parallel.experts_met : even;
    const double one = static_cast<double>(m.expert_layers) * expert_parameters(m);
    weight_bytes += (met - even) * one * m.weight_bytes;
    expert_bytes = met * one * m.weight_bytes;
    expert_flops = 2 * sequences * tokens * static_cast<double>(m.active) * one;
  }
  if (h.compute_in_memory) {
    weight_bytes = 4 * activations * layers;  // in and out of attention and feed-forward
    expert_bytes = 0;
  }
  cost.cold_bytes = cold.dense * (weight_bytes - expert_bytes) + cold.experts * expert_bytes;
  cost.memory_bytes = weight_bytes + work.kv_bytes - cost.cold_bytes;
  cost.flops = work.flops();

  // The slowest card sets the pace: what is spread unevenly counts with its imbalance.
  const double more_bytes = (1 - cold.experts) * expert_bytes * (parallel.expert_byte_imbalance - 1);
  const double more_flops = expert_flops * (parallel.expert_imbalance - 1);
  cost.memory = (cost.memory_bytes + more_bytes) / (cards * h.bandwidth());
  cost.compute = (cost.flops + more_flops) / (cards * h.compute());
  // Layers are alike, so the sum over layers of the slower side is layers x one layer.
  cost.roofline = layers * std::max(cost.memory / layers, cost.compute / layers);

  const double reduces = 2 * layers;
  cost.all_reduce = reduces * ring_all_reduce(h.cards, activations, h.link);
  cost.link_bytes = reduces * cards * ring_all_reduce_bytes(h.cards, activations);
  if (m.experts > 0 && h.cards > 1) {
    const double exchanges = 2 * static_cast<double>(m.expert_layers);
    // Every card sends the tokens of its part of the batch: B of FORMULAS.md is a card's.
    const double sent = activations * static_cast<double>(m.active);  // by all cards
    cost.all_to_all = exchanges * all_to_all(h.cards, sent / cards, h.link, parallel.expert_imbalance);
    cost.link_bytes += exchanges * sent * (1 - 1 / cards);
  }
  if (parallel.streamed_weights > 0) {
    const double bytes = parallel.streamed_weights * work.weight_bytes;
    cost.streaming = std::max(0.0, bytes / (cards * h.link.bandwidth) - cost.roofline);
    cost.link_bytes += bytes;
  }
  return cost;
}

// A pipeline of equal stages: M micro batches pass S stages in M + S - 1 slots of one stage's time.
StepCost pipeline_step(const Hardware& h, const Model& m, const Parallel& parallel, double sequences, double tokens,
                       double context, const Cold& cold) {
  Hardware stage = h;
  stage.cards = h.cards / parallel.pipeline_stages;
  const auto stages = static_cast<double>(parallel.pipeline_stages);
  const double micro = std::max(1.0, std::min(stages, sequences));
  StepCost cost = tensor_step(stage, m, parallel, sequences / micro, tokens, context, cold);
  const double slots = (micro + stages - 1) / stages;
  for (double* time :
       {&cost.memory, &cost.compute, &cost.roofline, &cost.all_reduce, &cost.all_to_all, &cost.streaming})
    *time *= slots;
  for (double* amount : {&cost.memory_bytes, &cost.link_bytes, &cost.cold_bytes, &cost.flops}) *amount *= micro;
  const double activations = sequences / micro * tokens * static_cast<double>(m.hidden) * parallel.activation_bytes;
  cost.hops = (micro + stages - 2) * (activations / h.link.bandwidth + h.link.latency);
  cost.link_bytes += micro * (stages - 1) * activations;
  return cost;
}

}  // namespace

Cold cold_share(const Hardware& h, const Model& m, double kv) {
  const double weights = parameters(m) * m.weight_bytes;
  const double experts = m.experts > 0 ? static_cast<double>(m.experts) * static_cast<double>(m.expert_layers) *
                                             expert_parameters(m) * m.weight_bytes
                                       : 0;
  const double excess = std::clamp(weights + kv - h.memory(), 0.0, weights);
  const double out = std::min(excess, experts);
  return {weights > experts ? (excess - out) / (weights - experts) : 0, experts > 0 ? out / experts : 0};
}

StepCost step_cost(const Hardware& h, const Model& m, const Parallel& parallel, double sequences, double tokens,
                   double context, const Cold& cold) {
  return parallel.pipeline_stages > 1 ? pipeline_step(h, m, parallel, sequences, tokens, context, cold)
                                      : tensor_step(h, m, parallel, sequences, tokens, context, cold);
}

StepCost prefill_cost(const Hardware& h, const Model& m, const Parallel& parallel, double prompt) {
  return step_cost(h, m, parallel, 1, prompt, prompt / 2);
}

}  // namespace dmprof::simcard
