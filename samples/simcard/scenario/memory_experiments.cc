// Experiments about bytes: KV cache footprints, the attention window, operational intensity.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/run_settings.h"

namespace dmprof::simcard {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

std::string thousands(double tokens) { return fmt::format("{}k", static_cast<std::int64_t>(tokens / 1024)); }

}  // namespace

Result<Figures> run_kv_footprint(Section s, const Conduct&) {
  const std::vector<double> contexts = s.quantities("contexts", Quantity::number);
  Section models = s.section("models");
  Figures figures;
  for (const std::string& label : models.keys()) {
    const Result<Model> model = read_model(models, label);
    if (!model) return tl::unexpected(model.error());
    for (const double context : contexts)
      figures.push_back(
          {fmt::format("{}_{}_gib", label, thousands(context)), kv_bytes_per_token(*model) * context / gib, "GiB"});
    if (model->attention == AttentionKind::mla && !contexts.empty()) {
      Model wide = *model;  // what the cache of each token would have to hold for the claimed bytes
      wide.latent = 256;
      figures.push_back({fmt::format("{}_width_256_{}_gib", label, thousands(contexts.front())),
                         kv_bytes_per_token(wide) * contexts.front() / gib, "GiB"});
    }
  }
  DMPROF_TRY(models.finish());
  DMPROF_TRY(s.finish());
  return figures;
}

Result<Figures> run_attention_window(Section s, const Conduct&) {
  const Result<Hardware> hardware = read_hardware(s, "hardware");
  if (!hardware) return tl::unexpected(hardware.error());
  const Result<Model> model = read_model(s, "model");
  if (!model) return tl::unexpected(model.error());
  double latency = 0, element = 0, hit_rate = 0, tokens = 0;
  s.quantity("latency", Quantity::duration, latency);
  s.quantity("bytes_per_parameter", Quantity::number, element, 1.0);
  s.quantity("hit_rate", Quantity::ratio, hit_rate);
  s.quantity("tokens", Quantity::number, tokens, 6.0);
  DMPROF_TRY(s.finish());
  const Pass work = pass(*model, 1, tokens, 0);
  const double by_compute = hardware->compute() / (work.flops() / work.bytes());
  const double by_memory = hardware->bandwidth() * hit_rate;
  const double effective = std::min(by_compute, by_memory);
  const double head = head_parameters(*model) * element;
  return Figures{{"head_mb", head / 1e6, "MB"},
                 {"head_qkvo_mb", 4 * head / 1e6, "MB"},
                 {"effective_bandwidth_tb_s", effective / 1e12, "TB/s"},
                 {"window_heads", std::ceil(effective * latency / head), "heads"}};
}

Result<Figures> run_long_context(Section s, const Conduct&) {
  const Result<Hardware> hardware = read_hardware(s, "hardware");
  if (!hardware) return tl::unexpected(hardware.error());
  const Result<Model> model = read_model(s, "model");
  if (!model) return tl::unexpected(model.error());
  const std::vector<double> contexts = s.quantities("contexts", Quantity::number);
  double batch = 0;
  s.quantity("batch", Quantity::number, batch);
  if (s.ok() && (contexts.size() < 2 || batch < 1))
    s.complain("contexts", "needs two contexts or more, and a batch of 1 or more");
  DMPROF_TRY(s.finish());
  Figures figures;
  double first = 0, last = 0;
  for (const double context : contexts) {
    const Pass work = pass(*model, batch, 1, context);
    const double intensity = work.flops() / work.bytes();
    // The roofline's utilization: the time of the arithmetic over the time of the slower side.
    const double utilization = std::min(1.0, intensity / hardware->ridge_point());
    figures.push_back({fmt::format("oi_total_{}", thousands(context)), intensity, "FLOP/B"});
    figures.push_back(
        {fmt::format("oi_weights_{}", thousands(context)), work.linear_flops / work.weight_bytes, "FLOP/B"});
    figures.push_back(
        {fmt::format("oi_attention_{}", thousands(context)), work.attention_flops / work.kv_bytes, "FLOP/B"});
    figures.push_back({fmt::format("utilization_{}", thousands(context)), utilization, "ratio"});
    if (first == 0) first = intensity;
    last = intensity;
  }
  figures.push_back({"oi_fall", first / last, "x"});
  const auto fall = [&](double sequences) {
    const Pass near = pass(*model, sequences, 1, contexts.front()), far = pass(*model, sequences, 1, contexts.back());
    return near.flops() / near.bytes() / (far.flops() / far.bytes());
  };
  constexpr double largest_batch = 4096;
  double tenfold = 1;
  while (tenfold < largest_batch && fall(tenfold) < 10) ++tenfold;
  if (fall(tenfold) >= 10) figures.push_back({"tenfold_from_batch", tenfold, "sequences"});
  return figures;
}

Result<Figures> run_kv_techniques(Section s, const Conduct&) {
  const Result<Model> model = read_model(s, "model");
  if (!model) return tl::unexpected(model.error());
  double context = 0, zero = 0, low = 0, hot = 0, shared = 0, delta = 0, heads = 0;
  s.quantity("context", Quantity::number, context);
  s.quantity("zero_share", Quantity::ratio, zero);             // of elements, by head
  s.quantity("low_precision_share", Quantity::ratio, low);     // of tokens kept in one byte
  s.quantity("hot_share", Quantity::ratio, hot);               // of blocks kept in HBM
  s.quantity("shared_prefix_share", Quantity::ratio, shared);  // of tokens that other requests hold too
  s.quantity("delta_saving", Quantity::ratio, delta);          // of bytes, between neighbours
  s.quantity("projected_heads", Quantity::ratio, heads);       // of heads, halved in width
  DMPROF_TRY(s.finish());
  const double full = kv_bytes_per_token(*model) * context / gib;
  // A sparse cache needs one bit per element to say which are kept.
  const double sparse = (1 - zero) + 1 / (8 * model->kv_bytes);
  const double precision = low * (1 / model->kv_bytes) + (1 - low);
  return Figures{{"full_gib", full, "GiB"},
                 {"sparse_share", sparse, "ratio"},
                 {"precision_share", precision, "ratio"},
                 {"hbm_share", hot, "ratio"},
                 {"prefix_share", 1 - shared, "ratio"},
                 {"delta_share", 1 - delta, "ratio"},
                 {"projection_share", 1 - heads / 2, "ratio"},
                 {"position_encoding_share", 1, "ratio"},
                 {"all_gib", full * sparse * precision * (1 - shared) * (1 - delta) * (1 - heads / 2), "GiB"}};
}

}  // namespace dmprof::simcard
