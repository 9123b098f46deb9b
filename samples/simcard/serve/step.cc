#include "samples/simcard/serve/step.h"

#include <algorithm>

#include "samples/simcard/node/collectives.h"

namespace dmprof::simcard {

namespace {

// Tensor parallel over `h.cards`; `missing` is the share of weights and cache that lies in the pool.
StepCost tensor_step(const Hardware& h, const Model& m, const Parallel& parallel, double sequences, double tokens,
                     double context, double missing) {
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
  cost.pool_bytes = missing * (weight_bytes + work.kv_bytes);
  cost.memory_bytes = weight_bytes + work.kv_bytes - cost.pool_bytes;
  cost.flops = work.flops();

  // The slowest card sets the pace: what is spread unevenly counts with its imbalance.
  const double more_bytes = (1 - missing) * expert_bytes * (parallel.expert_byte_imbalance - 1);
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
    const double sent = activations * static_cast<double>(m.active);  // by all cards
    cost.all_to_all = exchanges * all_to_all(h.cards, sent / cards, h.link, parallel.expert_imbalance);
    cost.link_bytes += exchanges * sent * (1 - 1 / cards);
  }
  if (parallel.streamed_weights > 0) {
    const double bytes = parallel.streamed_weights * work.weight_bytes;
    cost.streaming = std::max(0.0, bytes / (cards * h.link.bandwidth) - cost.roofline);
    cost.link_bytes += bytes;
  }
  if (cost.pool_bytes > 0) cost.spill = cost.pool_bytes / h.pool.bandwidth + layers * h.pool.latency;
  return cost;
}

// A pipeline of equal stages: M micro batches pass S stages in M + S - 1 slots of one stage's time.
StepCost pipeline_step(const Hardware& h, const Model& m, const Parallel& parallel, double sequences, double tokens,
                       double context, double missing) {
  Hardware stage = h;
  stage.cards = h.cards / parallel.pipeline_stages;
  const auto stages = static_cast<double>(parallel.pipeline_stages);
  const double micro = std::max(1.0, std::min(stages, sequences));
  StepCost cost = tensor_step(stage, m, parallel, sequences / micro, tokens, context, missing);
  const double slots = (micro + stages - 1) / stages;
  for (double* time :
       {&cost.memory, &cost.compute, &cost.roofline, &cost.all_reduce, &cost.all_to_all, &cost.streaming, &cost.spill})
    *time *= slots;
  for (double* amount : {&cost.memory_bytes, &cost.link_bytes, &cost.pool_bytes, &cost.flops}) *amount *= micro;
  const double activations = sequences / micro * tokens * static_cast<double>(m.hidden) * parallel.activation_bytes;
  cost.hops = (micro + stages - 2) * (activations / h.link.bandwidth + h.link.latency);
  cost.link_bytes += micro * (stages - 1) * activations;
  return cost;
}

}  // namespace

StepCost step_cost(const Hardware& h, const Model& m, const Parallel& parallel, double sequences, double tokens,
                   double context, double resident_kv) {
  // What does not fit is read from the pool in every step; the rest from the cards.
  const double held = parameters(m) * m.weight_bytes + resident_kv;
  const double capacity = h.memory_capacity * static_cast<double>(h.cards);
  const double missing = held > capacity ? (held - capacity) / held : 0;
  return parallel.pipeline_stages > 1 ? pipeline_step(h, m, parallel, sequences, tokens, context, missing)
                                      : tensor_step(h, m, parallel, sequences, tokens, context, missing);
}

StepCost prefill_cost(const Hardware& h, const Model& m, const Parallel& parallel, double prompt) {
  return step_cost(h, m, parallel, 1, prompt, prompt / 2, 0);
}

}  // namespace dmprof::simcard
