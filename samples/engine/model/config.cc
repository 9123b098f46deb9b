#include "samples/engine/model/config.h"

#include <fmt/format.h>

#include <cmath>

namespace dmengine {

namespace {

constexpr uint64_t max_width = 1 << 18;  // of any dimension but the vocabulary
constexpr uint64_t max_layers = 1024;
constexpr uint64_t max_vocab = 1 << 22;
constexpr uint64_t max_context = 1 << 24;

tl::unexpected<Error> bad(const GgufFile& file, const std::string& detail) {
  return fail(ErrorKind::bad_input,
              fmt::format("model '{}': {}; this engine runs plain Llama decoders, convert or choose another model",
                          file.path(), detail));
}

Status read_size(const GgufFile& file, const char* key, uint64_t limit, uint32_t& out) {
  auto value = file.unsigned_value(key);
  if (!value) return tl::unexpected(value.error());
  if (*value < 1 || *value > limit) return bad(file, fmt::format("'{}' is {}, expected 1 to {}", key, *value, limit));
  out = static_cast<uint32_t>(*value);
  return {};
}

Status read_optional_size(const GgufFile& file, const char* key, uint64_t limit, uint32_t& out) {
  return file.find(key) == nullptr ? Status{} : read_size(file, key, limit, out);
}

Status read_real(const GgufFile& file, const char* key, double low, double high, float& out) {
  auto value = file.real_value(key, static_cast<double>(out));
  if (!value) return tl::unexpected(value.error());
  if (!std::isfinite(*value) || *value < low || *value > high) {
    return bad(file, fmt::format("'{}' is {}, expected {} to {}", key, *value, low, high));
  }
  out = static_cast<float>(*value);
  return {};
}

Status refuse_what_is_not_built(const GgufFile& file) {
  auto experts = file.unsigned_value("llama.expert_count", 0);
  if (!experts) return tl::unexpected(experts.error());
  if (*experts > 1) return bad(file, fmt::format("it has {} experts", *experts));
  auto scaling = file.string_value("llama.rope.scaling.type", "none");
  if (!scaling) return tl::unexpected(scaling.error());
  auto factor = file.real_value("llama.rope.scaling.factor", 1.0);
  if (!factor) return tl::unexpected(factor.error());
  auto old_factor = file.real_value("llama.rope.scale_linear", 1.0);
  if (!old_factor) return tl::unexpected(old_factor.error());
  const bool plain = (*scaling == "none" || (*scaling == "linear" && *factor == 1.0)) && *old_factor == 1.0;
  if (!plain) return bad(file, fmt::format("it needs RoPE scaling ('{}')", scaling->substr(0, 20)));
  if (file.find_tensor("rope_freqs.weight") != nullptr)
    return bad(file, "it needs RoPE scaling (tensor 'rope_freqs.weight')");
  return {};
}

}  // namespace

Result<ModelConfig> read_config(const GgufFile& file) {
  auto architecture = file.string_value("general.architecture");
  if (!architecture) return tl::unexpected(architecture.error());
  if (*architecture != "llama") return bad(file, fmt::format("its architecture is '{}'", architecture->substr(0, 40)));

  ModelConfig config;
  DMPROF_TRY(read_size(file, "llama.embedding_length", max_width, config.dim));
  DMPROF_TRY(read_size(file, "llama.block_count", max_layers, config.layers));
  DMPROF_TRY(read_size(file, "llama.attention.head_count", 4096, config.heads));
  config.kv_heads = config.heads;
  DMPROF_TRY(read_optional_size(file, "llama.attention.head_count_kv", 4096, config.kv_heads));
  DMPROF_TRY(read_size(file, "llama.feed_forward_length", max_width, config.ffn));
  DMPROF_TRY(read_size(file, "llama.context_length", max_context, config.context));
  if (config.heads % config.kv_heads != 0) {
    return bad(file, fmt::format("{} query heads do not divide among {} key heads", config.heads, config.kv_heads));
  }
  config.head_dim = config.dim / config.heads;
  if (file.find("llama.attention.key_length") == nullptr && config.dim % config.heads != 0) {
    return bad(file, fmt::format("a width of {} does not divide among {} heads", config.dim, config.heads));
  }
  DMPROF_TRY(read_optional_size(file, "llama.attention.key_length", 4096, config.head_dim));
  uint32_t value_dim = config.head_dim;
  DMPROF_TRY(read_optional_size(file, "llama.attention.value_length", 4096, value_dim));
  if (value_dim != config.head_dim) {
    return bad(file, fmt::format("keys are {} wide and values {}", config.head_dim, value_dim));
  }
  config.rope_dims = config.head_dim;
  DMPROF_TRY(read_optional_size(file, "llama.rope.dimension_count", 4096, config.rope_dims));
  if (config.rope_dims > config.head_dim || config.rope_dims % 2 != 0) {
    return bad(file, fmt::format("{} rotated dimensions do not fit a head of {}", config.rope_dims, config.head_dim));
  }
  if (config.q_dim() > max_width) return bad(file, fmt::format("its heads are {} wide together", config.q_dim()));
  DMPROF_TRY(read_real(file, "llama.rope.freq_base", 1.0, 1e12, config.rope_base));
  DMPROF_TRY(read_real(file, "llama.attention.layer_norm_rms_epsilon", 0.0, 1.0, config.norm_epsilon));
  DMPROF_TRY(refuse_what_is_not_built(file));

  const TensorInfo* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) return bad(file, "the tensor 'token_embd.weight' is missing");
  if (embedding->rows > max_vocab) return bad(file, fmt::format("its vocabulary has {} tokens", embedding->rows));
  config.vocab = static_cast<uint32_t>(embedding->rows);
  config.tied_output = file.find_tensor("output.weight") == nullptr;
  return config;
}

}  // namespace dmengine
