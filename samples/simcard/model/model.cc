#include "samples/simcard/model/model.h"

namespace dmprof::simcard {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

// x^n without libm, by squaring; the fraction of n is interpolated (a batch's mean number of tokens need not be whole).
double power(double x, double n) {
  double result = 1, square = x;
  const auto whole = static_cast<std::uint64_t>(n);
  for (std::uint64_t left = whole; left > 0; left /= 2) {
    if (left % 2 == 1) result *= square;
    square *= square;
  }
  return result * (1 - (n - static_cast<double>(whole)) * (1 - x));
}

double embeddings(const Model& m) { return 2 * real(m.vocabulary) * real(m.hidden); }
double dense_layer_parameters(const Model& m) { return real(m.matrices) * real(m.hidden) * real(m.feed_forward); }
double router_parameters(const Model& m) { return real(m.hidden) * real(m.experts); }

}  // namespace

double attention_parameters(const Model& m) {
  const double h = real(m.hidden), width = real(m.heads) * real(m.head_size);
  if (m.attention == AttentionKind::mla) {
    // queries and output as in MHA; down to latent and rotary key, up to keys and values of every head
    return 2 * h * width + h * (real(m.latent) + real(m.rotary)) + 2 * real(m.latent) * width;
  }
  return 2 * h * width + 2 * h * real(m.kv_heads) * real(m.head_size);
}

double expert_parameters(const Model& m) { return real(m.matrices) * real(m.hidden) * real(m.expert_feed_forward); }

double parameters(const Model& m) {
  const double dense_layers = real(m.layers - m.expert_layers);
  return real(m.layers) * attention_parameters(m) + dense_layers * dense_layer_parameters(m) +
         real(m.expert_layers) * (real(m.experts + m.shared) * expert_parameters(m) + router_parameters(m)) +
         embeddings(m);
}

double active_parameters(const Model& m) {
  const double dense_layers = real(m.layers - m.expert_layers);
  return real(m.layers) * attention_parameters(m) + dense_layers * dense_layer_parameters(m) +
         real(m.expert_layers) * (real(m.active + m.shared) * expert_parameters(m) + router_parameters(m)) +
         embeddings(m) / 2;  // the input embedding is a look-up
}

double head_parameters(const Model& m) { return real(m.hidden) * real(m.head_size); }

double cached_width(const Model& m) {
  if (m.attention == AttentionKind::mla) return real(m.latent + m.rotary);
  return 2 * real(m.kv_heads) * real(m.head_size);
}

double kv_bytes_per_token(const Model& m) { return real(m.layers) * cached_width(m) * m.kv_bytes; }

double experts_met(const Model& m, double tokens) {
  if (m.experts == 0) return 0;
  return real(m.experts) * (1 - power(1 - real(m.active) / real(m.experts), tokens));
}

Pass pass(const Model& m, double sequences, double tokens, double context) {
  Pass cost;
  const double all_tokens = sequences * tokens;
  const double resting = real(m.expert_layers) * (real(m.experts) - experts_met(m, all_tokens)) * expert_parameters(m);
  cost.weight_bytes = (parameters(m) - embeddings(m) / 2 - resting) * m.weight_bytes;
  cost.kv_bytes = sequences * context * kv_bytes_per_token(m);
  cost.linear_flops = 2 * active_parameters(m) * all_tokens;
  // MLA works in the latent: its scores and values are latent + rotary wide (absorbed form)
  const double width = m.attention == AttentionKind::mla ? real(m.heads) * (2 * real(m.latent) + real(m.rotary)) / 2
                                                         : real(m.heads) * real(m.head_size);
  cost.attention_flops = 4 * all_tokens * context * width * real(m.layers);
  return cost;
}

}  // namespace dmprof::simcard
