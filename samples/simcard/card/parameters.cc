#include "samples/simcard/card/parameters.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace dmprof::simcard {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;

Status need(bool holds, const char* what) {
  return holds ? Status{} : fail(ErrorKind::bad_input, fmt::format("impossible card: {}", what));
}

bool positive(double value) { return std::isfinite(value) && value > 0; }
bool share(double value) { return value >= 0 && value <= 1; }

Status check_memory(const MemoryParameters& m) {
  DMPROF_TRY(need(m.l2_channels >= 1 && m.l2_channels <= 4096, "L2 needs 1 to 4096 channels"));
  DMPROF_TRY(need(m.l2_banks >= 1 && m.l2_banks <= 4096, "a channel needs 1 to 4096 banks"));
  DMPROF_TRY(need(positive(m.l1_bandwidth) && positive(m.l2_bandwidth), "a tier's bandwidth must be above 0"));
  DMPROF_TRY(need(m.interleave >= 64, "pieces of a block must have at least 64 bytes"));
  DMPROF_TRY(need(m.l1_bytes >= 1 && m.l1_bytes <= kMostBytes && m.l2_bytes <= kMostBytes && m.l0_bytes <= kMostBytes,
                  "a tier's size must be above 0 and below 1 PiB"));
  return need(m.prefetch_outstanding <= 4096 && m.demand_outstanding >= 1 && m.demand_outstanding <= 4096,
              "the DMA engine needs 1 to 4096 demand transfers under way, and at most 4096 prefetches");
}

Status check_model(const CardParameters& p) {
  const ModelShape& m = p.model;
  DMPROF_TRY(need(m.selection.layers >= 1 && m.selection.layers <= 4096, "a model needs 1 to 4096 layers"));
  DMPROF_TRY(need(m.selection.blocks <= most_blocks, "a layer has at most 16384 blocks"));
  DMPROF_TRY(
      need(m.selection.blocks == 0 || (m.selection.per_token >= 1 && m.selection.per_token <= m.selection.blocks),
           "a token needs at least one block of a layer and at most all of them"));
  DMPROF_TRY(need(m.block_bytes >= 64 && m.block_bytes <= p.memory.l1_bytes,
                  "a block must have at least 64 bytes and fit L1; use smaller blocks or a larger L1"));
  DMPROF_TRY(
      need(m.attention.kv_block >= 1 && m.attention.kv_block <= 1 << 20, "a block of KV holds 1 to 1048576 tokens"));
  DMPROF_TRY(need(m.dense_bytes <= kMostBytes / 4096 && m.kv_bytes <= 1 << 30, "a layer is too large"));
  DMPROF_TRY(need(m.parameter_bytes() > 0 && m.parameter_bytes() <= p.memory.l2_bytes,
                  "the model's slice does not fit L2; use more shards or a smaller model"));
  DMPROF_TRY(
      need(positive(m.bytes_per_parameter) && m.shards >= 1, "parameters need bytes, a model at least one shard"));
  return need(share(m.selection.noise) && m.selection.skew >= 0 && m.selection.skew <= 10,
              "noise must lie in 0..1 and skew in 0..10");
}

}  // namespace

Status check(const CardParameters& p) {
  DMPROF_TRY(check_memory(p.memory));
  DMPROF_TRY(need(p.engine.engines >= 1 && p.engine.engines <= 4096, "it needs 1 to 4096 speculation engines"));
  DMPROF_TRY(need(positive(p.engine.bandwidth) && p.engine.layer_latency >= 0 && share(p.engine.draft_active_share) &&
                      p.engine.prediction >= 0 && p.engine.scheduling >= 0,
                  "an engine needs bandwidth and times that are not negative"));
  DMPROF_TRY(need(p.compute.modules >= 1 && p.compute.modules <= 65536 && positive(p.compute.peak_flops),
                  "it needs 1 to 65536 modules and peak FLOP/s above 0"));
  DMPROF_TRY(need(p.compute.layer_sync >= 0 && p.compute.step_host >= 0 && p.compute.accept_token >= 0 &&
                      p.memory.l2_latency >= 0 && p.memory.l1_latency >= 0 && p.memory.l0_latency >= 0 &&
                      p.memory.row_miss >= 0,
                  "times must not be negative"));
  DMPROF_TRY(check_model(p));
  DMPROF_TRY(need(p.language.classes >= 2 && p.language.classes <= 4096 && std::has_single_bit(p.language.classes),
                  "token classes must be a power of two from 2 to 4096"));
  DMPROF_TRY(need(p.predictor.rows >= 2 && p.predictor.rows <= 1 << 24, "the predictor needs 2 to 16777216 rows"));
  DMPROF_TRY(need(p.settings.draft_billions >= 0 && p.settings.draft_billions <= 10'000, "the draft's size is absurd"));
  DMPROF_TRY(need(p.settings.lookahead <= 64, "lookahead goes from 0 to 64"));
  DMPROF_TRY(need(p.settings.cache_policy <= 2, "the cache policy is 0, 1 or 2"));
  DMPROF_TRY(need(p.most_batch >= 1 && p.most_batch <= 65536 && p.most_waiting >= 1, "the batch needs room"));
  return check(p.workload);
}

std::uint64_t l0_for_blocks(const CardParameters& p) {
  const std::uint64_t all = std::min(p.memory.l0_bytes, kMostBytes / 65536) * p.compute.modules;
  return all - std::min(all, 2 * p.model.dense_bytes);
}

std::uint64_t draft_token_bytes(const CardParameters& p, double billions) {
  return static_cast<std::uint64_t>(billions * 1e9 * p.model.bytes_per_parameter * p.engine.draft_active_share /
                                    p.model.shards);
}

SimTime draft_token_time(const CardParameters& p, double billions) {
  const double layers = p.engine.draft_layers_at_1b * std::sqrt(billions);
  const double flops = 2 * billions * 1e9 * p.engine.draft_active_share / p.model.shards;
  const SimTime bytes = time_for(static_cast<double>(draft_token_bytes(p, billions)), p.engine.bandwidth);
  // An engine has the arithmetic of one module.
  const SimTime arithmetic = time_for(flops, p.compute.peak_flops / p.compute.modules);
  return static_cast<SimTime>(layers * static_cast<double>(p.engine.layer_latency)) + std::max(bytes, arithmetic);
}

}  // namespace dmprof::simcard
