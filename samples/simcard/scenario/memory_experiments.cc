// Experiments about bytes: KV cache footprints, the attention window, operational intensity, tiers.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "samples/simcard/core/math.h"
#include "samples/simcard/core/random.h"
#include "samples/simcard/node/pool.h"
#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/run_settings.h"

namespace dmprof::simcard {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

std::string thousands(double tokens) { return fmt::format("{}k", static_cast<std::int64_t>(tokens / 1024)); }

// Entropy in bits of a histogram.
template <class Counts>
double entropy(const Counts& counts, double total) {
  double bits = 0;
  for (const auto count : counts) {
    if (count > 0)
      bits -= static_cast<double>(count) / total * math::log(static_cast<double>(count) / total) / math::log(2);
  }
  return bits;
}

// Exponent and mantissa of a value in FP16 (rounded down; the sign is one incompressible bit).
struct Half {
  unsigned exponent, mantissa;
};
Half to_fp16(double x) {
  int exponent = 0;
  const double m = std::frexp(x < 0 ? -x : x, &exponent);  // m in [0.5, 1)
  const int biased = exponent + 14;
  if (biased <= 0) return {0, static_cast<unsigned>(std::ldexp(m, 10 + biased))};
  return {static_cast<unsigned>(biased), static_cast<unsigned>((2 * m - 1) * 1024)};
}

// Best order-0 lossless ratio of normally distributed FP16 values of the given deviation: 16 bits over the entropy of
// sign, exponent and mantissa.
double fp16_compression(double deviation, std::uint64_t seed) {
  Random random(seed, "fp16 values");
  constexpr int samples = 1 << 20;
  std::array<std::uint64_t, 32> exponents{};
  std::array<std::uint64_t, 1024> mantissas{};
  for (int i = 0; i < samples; ++i) {
    const Half half = to_fp16(deviation * random.normal());
    ++exponents[half.exponent & 31];
    ++mantissas[half.mantissa & 1023];
  }
  return 16 / (1 + entropy(exponents, samples) + entropy(mantissas, samples));
}

}  // namespace

Result<Figures> run_kv_footprint(Section s, std::uint64_t) {
  const std::vector<double> contexts = s.quantities("contexts", Quantity::number);
  Section models = s.section("models");
  Figures figures;
  for (const std::string& label : models.keys()) {
    const Result<Model> model = read_model(models, label);
    if (!model) return tl::unexpected(model.error());
    for (const double context : contexts)
      figures.push_back(
          {fmt::format("{}_{}_gib", label, thousands(context)), kv_bytes_per_token(*model) * context / gib, "GiB"});
    if (model->attention == Attention::mla && !contexts.empty()) {
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

Result<Figures> run_attention_window(Section s, std::uint64_t) {
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

Result<Figures> run_long_context(Section s, std::uint64_t) {
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
  return figures;
}

Result<Figures> run_kv_techniques(Section s, std::uint64_t) {
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

Result<Figures> run_tiers(Section s, std::uint64_t seed) {
  Pool pool;
  PoolLoad load;
  double accuracy = 0, deviation = 0, claimed = 0;
  s.integer("ports", pool.units, 1, 1024);
  s.quantity("bandwidth", Quantity::bandwidth, pool.link.bandwidth);
  s.quantity("latency", Quantity::duration, pool.link.latency);
  s.quantity("compression", Quantity::number, pool.compression);
  s.quantity("claimed_compression", Quantity::number, claimed);
  s.quantity("block", Quantity::size, load.block_bytes);
  s.quantity("rate", Quantity::rate, load.rate);
  s.quantity("lead", Quantity::duration, load.lead);
  s.quantity("accuracy", Quantity::ratio, accuracy);
  s.quantity("value_deviation", Quantity::number, deviation, 0.02);
  if (s.ok() &&
      (pool.link.bandwidth <= 0 || load.rate <= 0 || load.block_bytes <= 0 || pool.compression < 1 || claimed < 1))
    s.complain("", "bandwidth, rate and block must be above 0, compression ratios at least 1");
  DMPROF_TRY(s.finish());
  const PoolResult plain = simulate_pool(pool, load, seed);
  load.accuracy = accuracy;
  const PoolResult predicted = simulate_pool(pool, load, seed);
  Pool packed = pool;
  packed.compression = claimed;
  const PoolResult as_claimed = simulate_pool(packed, load, seed);
  return Figures{{"lossless_ratio_fp16", fp16_compression(deviation, seed), "x"},
                 {"on_time_share", predicted.on_time, "ratio"},
                 {"wait_without_prediction_us", plain.mean_wait * 1e6, "us"},
                 {"wait_with_prediction_us", predicted.mean_wait * 1e6, "us"},
                 {"wait_at_claimed_ratio_us", as_claimed.mean_wait * 1e6, "us"},
                 {"read_amplification", predicted.moved_bytes * pool.compression / predicted.asked_bytes, "x"},
                 {"pool_gb_s", pool_bandwidth(pool) / 1e9, "GB/s"}};
}

}  // namespace dmprof::simcard
