// Changes of a model that a machine would reward, each with what the roofline predicts of it. Pure arithmetic,
// thread-safe. No quality is predicted anywhere: nothing here knows what a changed model answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/plan/hardware.h"
#include "analyzers/plan/shape.h"

namespace dmprof::plan {

// A decode step: every sequence of the batch verifies `tokens` (lookahead + 1) over `context` cached ones.
struct DecodeLoad {
  double batch = 1, tokens = 1, context = 0;
};

struct DecodeCost {
  double weight_bytes = 0, kv_bytes = 0;  // read a step: weights once, the cache of every sequence
  double weight_flops = 0;                // 2 x multiplied weights x batch x tokens
  double attention_flops = 0;  // 4 x heads x head size (MLA: 2 x heads x (2 d_c + d_rope)) x layers x context x tokens
  double weight_time = 0, attention_time = 0;  // s: max(bytes / bandwidth, FLOPs / peak) of each, one after the other
  double serial = 0;  // s: the same with the arithmetic of each part after its bytes, as if nothing hid it
  bool weights_bound_by_arithmetic = false, attention_bound_by_arithmetic = false;
  double memory_bytes = 0;  // weights kept and KV of the batch; activations are not counted
  double sequences = 0;     // whole ones of that context that fit beside the weights; NaN: memory not known

  double step() const { return weight_time + attention_time; }
  // FACTS.md B1, B2: FLOP/B of all, and of both parts, which differ by far.
  double intensity() const { return (weight_flops + attention_flops) / (weight_bytes + kv_bytes); }
  double weight_intensity() const { return weight_flops / weight_bytes; }
  double attention_intensity() const { return attention_flops / kv_bytes; }  // NaN without a context
  // CF, METRICS.md capacity_footprint: bytes a request = memory / batch.
  double footprint(const DecodeLoad& load) const { return memory_bytes / load.batch; }
};

// Weights are multiplied in the precision their size suggests (1 byte: 8 bits, ...), in whole tiles; attention in 16
// bits.
DecodeCost decode_cost(const ModelShape& shape, const DecodeLoad& load, const Hardware& hardware);

struct AdviceOptions {
  std::uint64_t kv_heads = 8;               // of the grouped variant
  std::uint64_t latent = 512, rotary = 64;  // of the latent variant
};

struct Change {
  std::string kind;     // "attention", "kv", "weights", "widths", "together"
  std::string what;     // "GQA with 8 KV heads"
  std::string assumes;  // what the figures rest on
  std::string loses;    // what is paid, and what nobody predicts
  ModelShape shape;     // as changed
};

// What can be changed of this shape: a variant of attention that caches less, fewer bits for the cache and the weights,
// widths in whole tiles of the hardware, and last, together, the variant with the shortest step where one shortens it
// with 8-bit cache and weights. A change that would change nothing is not among them.
std::vector<Change> changes(const ModelShape& shape, const DecodeLoad& load, const Hardware& hardware,
                            const AdviceOptions& options);

// What was measured of the same step on the same hardware, s: all of it, and the target's pass.
struct MeasuredStep {
  double step = 0, pass = 0;
};
// Step time before / after, at least and at most. Without a measured step: the ratio of the rooflines, and that of the
// serial times. With one: the target's pass shrinks in proportion to its roofline; or all it takes beyond the roofline
// stays as it is; or its arithmetic is hidden by nothing after the change. The rest of the step stays.
struct Gain {
  double low = 1, high = 1;
};
// A pass a little shorter than its roofline says that the peaks are a little higher than stated, and counts as being at
// it. Nothing where the roofline takes over 1.3 times as long: then the two are not the same step.
std::optional<Gain> step_gain(const DecodeCost& before, const DecodeCost& after,
                              const std::optional<MeasuredStep>& measured);

}  // namespace dmprof::plan
