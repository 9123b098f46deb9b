// Effective bandwidth and the attention window (FACTS.md A12), and the roofline of a matrix product (FACTS.md B1).
// Rates in bytes and FLOP a second, times in seconds. Pure arithmetic, thread-safe.
#pragma once

namespace dmprof::plan {

// FLOP per byte of Y = W X with W m x d and X d x tokens when every element moves once: 2 m d t / (m d + d t + m t) /
// bytes per element.
double ideal_intensity(double m, double d, double tokens, double element_bytes);

struct Roofline {
  double peak_flops = 0;
  double bandwidth = 0;

  double ridge() const { return peak_flops / bandwidth; }  // FLOP/B from which on arithmetic is the limit
  double attainable(double intensity) const;               // FLOP/s
  // Tokens a step (batch times verified tokens) at which its products with weights reach the ridge: ridge x bytes a
  // weight / 2.
  double crossover_tokens(double weight_bytes) const { return ridge() * weight_bytes / 2; }
};

// min(peak FLOP/s / OI, bandwidth x hit rate), as the article defines it; it forgets that misses are served too.
double effective_bandwidth(const Roofline& machine, double intensity, double hit_rate);
// The mix of both paths: 1 / (hit / fast + (1 - hit) / slow).
double harmonic_bandwidth(double fast, double slow, double hit_rate);
// Heads whose parameters can be streamed within the latency: ceil(effective bandwidth x latency / bytes of a head).
double attention_window(double effective_bandwidth, double latency, double head_bytes);

}  // namespace dmprof::plan
