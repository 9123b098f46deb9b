// A mixture of experts before and after placement and balancing.
#include "samples/simcard/node/experts.h"
#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/run_settings.h"

namespace dmprof::simcard {

Result<Figures> run_moe(Section s, const Conduct& conduct) {
  const Result<Hardware> hardware = read_hardware(s, "hardware");
  if (!hardware) return tl::unexpected(hardware.error());
  Result<Model> model = read_model(s, "model");
  if (!model) return tl::unexpected(model.error());
  ExpertLoad load;
  double decode_batch = 0, prefill_tokens = 0, occupancy = 0;
  std::int64_t slots = 0, largest = 0;
  s.quantity("weight_bytes", Quantity::number, model->weight_bytes, model->weight_bytes);
  s.quantity("skew", Quantity::number, load.skew);
  s.integer("replicas", load.replicas, 0, 65536);
  s.quantity("decode_batch", Quantity::number, decode_batch);
  s.quantity("prefill_tokens", Quantity::number, prefill_tokens);
  s.integer("slots", slots, 16, 65536);
  s.integer("largest_slot", largest, 1, 64);
  s.quantity("occupancy", Quantity::ratio, occupancy);
  if (s.ok() && model->experts == 0) s.complain("model", "has no experts; name a mixture of experts");
  if (s.ok() && (decode_batch < 1 || prefill_tokens < 1 || prefill_tokens > 1e5))
    s.complain("prefill_tokens", "must be 1 to 100000, as decode_batch");
  DMPROF_TRY(s.finish());
  load.experts = model->experts;
  load.active = model->active;
  load.cards = hardware->cards;
  const auto imbalance = [&](bool improved, double tokens, std::int64_t steps) {
    ExpertLoad case_load = load;
    case_load.tokens = static_cast<std::int64_t>(tokens);
    case_load.steps = steps;
    case_load.placement = improved ? Placement::balanced : Placement::in_order;
    if (!improved) case_load.replicas = 0;
    return expert_imbalance(case_load, conduct.seed);
  };
  const auto step = [&](const ExpertImbalance& routed, double sequences, double tokens) {
    Parallel parallel;
    parallel.expert_imbalance = routed.cards;
    parallel.expert_byte_imbalance = routed.bytes;
    parallel.experts_met = routed.met;
    return step_cost(*hardware, *model, parallel, sequences, tokens, 1024);
  };
  const ExpertImbalance decode_before = imbalance(false, decode_batch, 200),
                        decode_after = imbalance(true, decode_batch, 200);
  const ExpertImbalance fill_before = imbalance(false, prefill_tokens, 20),
                        fill_after = imbalance(true, prefill_tokens, 20);
  const StepCost decode_slow = step(decode_before, decode_batch, 1), decode_fast = step(decode_after, decode_batch, 1);
  const StepCost fill_slow = step(fill_before, 1, prefill_tokens), fill_fast = step(fill_after, 1, prefill_tokens);
  return Figures{{"device_imbalance", fill_before.cards, "x"},
                 {"device_imbalance_balanced", fill_after.cards, "x"},
                 {"expert_imbalance", fill_before.experts, "x"},
                 {"fragmentation_percent", 100 * fragmentation(slots, largest, occupancy, conduct.seed), "%"},
                 {"all_to_all_share_decode", decode_slow.all_to_all / decode_slow.total(), "ratio"},
                 {"all_to_all_share_prefill", fill_slow.all_to_all / fill_slow.total(), "ratio"},
                 {"decode_latency_cut_percent", 100 - 100 * decode_fast.total() / decode_slow.total(), "%"},
                 {"prefill_latency_cut_percent", 100 - 100 * fill_fast.total() / fill_slow.total(), "%"}};
}

}  // namespace dmprof::simcard
