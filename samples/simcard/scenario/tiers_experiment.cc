// Tiered memory: a pool that prediction hides, what lossless compression can give, and a node that serves more than its
// memory holds.
#include <array>
#include <cmath>
#include <utility>

#include "samples/simcard/core/math.h"
#include "samples/simcard/core/random.h"
#include "samples/simcard/node/pool.h"
#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/run_settings.h"

namespace dmprof::simcard {
namespace {

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

// The same requests with memory for all of them, with the tiers as the preset says, without the first one, with the
// compression that is claimed, and with no tier at all: then caches are computed again.
Status serve_behind_memory(const RunSettings& run, double claimed, const Conduct& conduct, Figures& figures) {
  RunSettings unbounded = run, drives = run, packed = run, none = run;
  unbounded.spec.hardware.memory_capacity *= 100;
  drives.spec.hardware.tiers.erase(drives.spec.hardware.tiers.begin());
  packed.spec.hardware.tiers.front().compression = claimed;
  none.spec.hardware.tiers.clear();
  const Result<ServeResult> best = unbounded.as_described();
  if (!best) return tl::unexpected(best.error());
  using Variant = std::pair<const char*, const RunSettings*>;
  const RunSettings pool = run.watched(conduct);
  const std::array variants = {Variant{"pool", &pool}, Variant{"pool_at_claimed_ratio", &packed},
                               Variant{"drives", &drives}, Variant{"recomputed", &none}};
  for (const auto& [name, variant] : variants) {
    const Result<ServeResult> result = variant->as_described();
    if (!result) return tl::unexpected(result.error());
    const std::string label = std::string("serving_") + name;
    figures.push_back({label + "_throughput_share", result->throughput / best->throughput, "ratio"});
    figures.push_back({label + "_preemptions", static_cast<double>(result->preempted), "sequences"});
    if (!result->tiers.empty()) figures.push_back({label + "_moved_gb", result->tiers.front().moved / 1e9, "GB"});
  }
  return {};
}

Status serve_cold_experts(const RunSettings& run, Figures& figures) {
  RunSettings unbounded = run;
  unbounded.spec.hardware.memory_capacity *= 100;
  const Result<ServeResult> best = unbounded.as_described(), cold = run.as_described();
  if (!best) return tl::unexpected(best.error());
  if (!cold) return tl::unexpected(cold.error());
  const auto met = static_cast<double>(cold->expert_hits + cold->expert_misses);
  figures.push_back({"expert_hit_rate", met > 0 ? static_cast<double>(cold->expert_hits) / met : 1, "ratio"});
  figures.push_back({"expert_wait_share", cold->cold_seconds / cold->verify_seconds, "ratio"});
  figures.push_back({"cold_experts_throughput_share", cold->throughput / best->throughput, "ratio"});
  return {};
}

}  // namespace

Result<Figures> run_tiers(Section s, const Conduct& conduct) {
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
  Section serving = s.section("serving"), moe = s.section("experts");
  const Result<RunSettings> caches = read_run(serving, conduct.seed);
  if (!caches) return tl::unexpected(caches.error());
  const Result<RunSettings> experts = read_run(moe, conduct.seed);
  if (!experts) return tl::unexpected(experts.error());
  if (s.ok() && caches->spec.hardware.tiers.empty()) serving.complain("hardware", "has no tier; name one with a pool");
  if (s.ok() && experts->spec.model.experts == 0) moe.complain("model", "has no experts; name a mixture of experts");
  DMPROF_TRY(serving.finish());
  DMPROF_TRY(moe.finish());
  DMPROF_TRY(s.finish());
  const PoolResult plain = simulate_pool(pool, load, conduct.seed);
  load.accuracy = accuracy;
  const PoolResult predicted = simulate_pool(pool, load, conduct.seed);
  Pool packed = pool;
  packed.compression = claimed;
  const PoolResult as_claimed = simulate_pool(packed, load, conduct.seed);
  Figures figures{{"lossless_ratio_fp16", fp16_compression(deviation, conduct.seed), "x"},
                  {"on_time_share", predicted.on_time, "ratio"},
                  {"wait_without_prediction_us", plain.mean_wait * 1e6, "us"},
                  {"wait_with_prediction_us", predicted.mean_wait * 1e6, "us"},
                  {"wait_at_claimed_ratio_us", as_claimed.mean_wait * 1e6, "us"},
                  {"read_amplification", predicted.moved_bytes * pool.compression / predicted.asked_bytes, "x"},
                  {"pool_gb_s", pool_bandwidth(pool) / 1e9, "GB/s"}};
  DMPROF_TRY(serve_behind_memory(*caches, claimed, conduct, figures));
  DMPROF_TRY(serve_cold_experts(*experts, figures));
  figures.push_back(caches->littles_law());
  return figures;
}

}  // namespace dmprof::simcard
