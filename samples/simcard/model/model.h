// What a transformer costs: parameters, bytes and FLOPs of a pass, KV cache. Closed forms over a description; no
// simulation. All functions are pure and thread-safe; bytes and FLOPs are doubles because a trillion parameters times a
// batch is large.
#pragma once

#include <cstdint>
#include <string>

#include "dmprof/base/error.h"

namespace dmprof::simcard {

enum class AttentionKind {
  mha,  // every head has its own key and value
  gqa,  // heads share kv_heads keys and values
  mla,  // one compressed latent and one rotary key a token and layer (DeepSeek-V2, arXiv 2405.04434)
};

struct Model {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  AttentionKind attention = AttentionKind::mha;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;
  std::int64_t latent = 0;        // MLA: cached width of the latent
  std::int64_t rotary = 0;        // MLA: cached width of the rotary key
  std::int64_t feed_forward = 0;  // inner width of a dense layer
  std::int64_t matrices = 3;      // of a feed-forward block: 3 gated, 2 plain
  std::int64_t experts = 0;       // 0: dense
  std::int64_t active = 0;        // experts a token uses, shared ones not counted
  std::int64_t shared = 0;        // experts that every token uses
  std::int64_t expert_feed_forward = 0;
  std::int64_t expert_layers = 0;  // layers with experts; the others have feed_forward
  std::int64_t vocabulary = 0;
  double weight_bytes = 2;  // per parameter
  double kv_bytes = 2;      // per cached element
};

// Reads a description by name ("dense-120b") or from a file.
Result<Model> open_model(const std::string& name);

double attention_parameters(const Model& model);  // of one layer
double expert_parameters(const Model& model);     // of one expert
double parameters(const Model& model);            // all of them, both embeddings included
double active_parameters(const Model& model);     // those one token meets
// Q of one head, hidden x head size: the "parameter volume" of the attention window (FACTS.md A12).
double head_parameters(const Model& model);

// Elements cached per token and layer: 2 n_kv d_h, or latent + rotary for MLA (FORMULAS.md, KV bytes per token).
double cached_width(const Model& model);
double kv_bytes_per_token(const Model& model);

// Experts of one layer that `tokens` tokens meet when each picks `active` of them evenly: E (1 - (1 - k/E)^tokens).
double experts_met(const Model& model, double tokens);

// One pass of the target over `sequences` sequences with `tokens` new tokens each, at `context` cached tokens.
struct Pass {
  double weight_bytes = 0;     // read once, whatever the batch; of the experts only those met
  double kv_bytes = 0;         // read once per sequence
  double linear_flops = 0;     // products with weights: 2 x active parameters x tokens
  double attention_flops = 0;  // scores and values: 4 x tokens x context x heads x head size x layers
  double bytes() const { return weight_bytes + kv_bytes; }
  double flops() const { return linear_flops + attention_flops; }
};
Pass pass(const Model& model, double sequences, double tokens, double context);

}  // namespace dmprof::simcard
