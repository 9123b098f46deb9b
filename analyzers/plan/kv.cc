#include "analyzers/plan/kv.h"

#include <cmath>

namespace dmprof::plan {

double kv_bytes_per_token(const KvShape& shape) {
  const auto real = [](std::uint64_t number) { return static_cast<double>(number); };
  const double layers = real(shape.layers) * shape.element_bytes;
  switch (shape.attention) {
    case Attention::mha:
      return 2 * layers * real(shape.heads) * real(shape.head_size);
    case Attention::gqa:
      return 2 * layers * real(shape.kv_heads) * real(shape.head_size);
    case Attention::mla:
      return layers * (real(shape.latent) + real(shape.rope));
  }
  return 0;
}

double sequences_that_fit(const KvShape& shape, double tokens, double bytes) {
  const double each = kv_bytes_per_token(shape) * tokens;
  return each > 0 ? std::floor(bytes / each) : 0;
}

}  // namespace dmprof::plan
