#include "samples/engine/model/forward_pass.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "samples/engine/model/op_scope.h"

namespace dmengine {

namespace {

constexpr uint32_t q8_block = 32;
constexpr uint64_t pool_threshold =
    20'000;  // about nanoseconds: below it waking another thread costs more than it saves

}  // namespace

ForwardPass::ForwardPass(std::shared_ptr<const ModelLayout> layout, WeightSource& weights, ThreadPool& pool)
    : layout_(std::move(layout)),
      weights_(&weights),
      pool_(&pool),
      kernels_(&best_kernels()),
      scratch_(pool.threads()) {
  const ModelConfig& config = layout_->config;
  for (uint32_t pair = 0; pair < config.rope_dims / 2; ++pair) {
    frequencies_.push_back(std::pow(static_cast<double>(config.rope_base), -2.0 * pair / config.rope_dims));
  }
}

void ForwardPass::reserve(uint32_t tokens, uint32_t positions) {
  const ModelConfig& config = layout_->config;
  const auto grow = [tokens](std::vector<float>& buffer, uint64_t width) {
    if (buffer.size() < tokens * width) buffer.resize(tokens * width);
  };
  grow(residual_, config.dim);
  grow(normed_, config.dim);
  grow(projected_, config.dim);
  grow(query_, config.q_dim());
  grow(mixed_, config.q_dim());
  grow(key_, config.kv_dim());
  grow(value_, config.kv_dim());
  grow(gate_, config.ffn);
  grow(up_, config.ffn);
  grow(cosines_, config.rope_dims / 2);
  grow(sines_, config.rope_dims / 2);
  const uint64_t widest = std::max({config.dim, config.q_dim(), config.ffn});
  grow(scales_, (widest + q8_block - 1) / q8_block * scale_copies);
  if (quants_.size() < tokens * widest) quants_.resize(tokens * widest);
  for (std::vector<float>& scratch : scratch_) {
    if (scratch.size() < positions + 8) scratch.resize(std::max<size_t>(positions + 8, scratch.size() * 2));
  }
}

void ForwardPass::for_each(uint32_t count, uint64_t cost, const std::function<void(uint32_t, unsigned)>& body) {
  if (cost >= pool_threshold) return pool_->run(count, body);
  for (uint32_t i = 0; i < count; ++i) body(i, 0);
}

void ForwardPass::prepare_rotation(std::span<const PassToken> tokens) {
  const size_t pairs = frequencies_.size();
  for (size_t t = 0; t < tokens.size(); ++t) {
    for (size_t pair = 0; pair < pairs; ++pair) {
      const double angle = tokens[t].position * frequencies_[pair];
      cosines_[t * pairs + pair] = static_cast<float>(std::cos(angle));
      sines_[t * pairs + pair] = static_cast<float>(std::sin(angle));
    }
  }
}

Status ForwardPass::run(KvCache& cache, std::span<const PassToken> tokens, ForwardStats* stats) {
  stats_ = stats;
  count_ = static_cast<uint32_t>(tokens.size());
  uint32_t positions = 0;
  for (const PassToken& token : tokens) positions = std::max(positions, token.position + 1);
  reserve(count_, positions);
  prepare_rotation(tokens);
  DMPROF_TRY(embed(tokens));
  for (uint32_t index = 0; index < layout_->config.layers; ++index) DMPROF_TRY(layer(index, cache, tokens));
  return logits(tokens);
}

Status ForwardPass::layer(uint32_t index, KvCache& cache, std::span<const PassToken> tokens) {
  const LayerLayout& layer = layout_->layers[index];
  const ModelConfig& config = layout_->config;
  const auto number = static_cast<int32_t>(index);
  // The feed-forward output of the layer before is added here, together with this layer's first norm.
  add_and_norm(index == 0 ? nullptr : projected_.data(), layer.attention_norm, count_, nullptr, number);
  const Product qkv[] = {{layer.wq, query_.data(), config.q_dim()},
                         {layer.wk, key_.data(), config.kv_dim()},
                         {layer.wv, value_.data(), config.kv_dim()}};
  DMPROF_TRY(multiply("qkv", number, qkv, normed_.data(), config.dim));
  rotate_and_store(index, cache, tokens);
  attend(index, cache, tokens);
  const Product wo[] = {{layer.wo, projected_.data(), config.dim}};
  DMPROF_TRY(multiply("wo", number, wo, mixed_.data(), config.q_dim()));
  add_and_norm(projected_.data(), layer.ffn_norm, count_, nullptr, number);
  const Product gate_up[] = {{layer.gate, gate_.data(), config.ffn}, {layer.up, up_.data(), config.ffn}};
  DMPROF_TRY(multiply("gate_up", number, gate_up, normed_.data(), config.dim));
  activate(number);
  const Product down[] = {{layer.down, projected_.data(), config.dim}};
  return multiply("down", number, down, gate_.data(), config.ffn);
}

Status ForwardPass::logits(std::span<const PassToken> tokens) {
  std::vector<uint32_t> rows;
  for (uint32_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t].logits != nullptr) rows.push_back(t);
  }
  if (rows.empty()) return {};
  count_ = static_cast<uint32_t>(rows.size());
  add_and_norm(projected_.data(), layout_->output_norm, count_, rows.data(), -1);
  const Product output[] = {{layout_->output, tokens[rows[0]].logits, layout_->config.vocab}};
  return multiply("output", -1, output, normed_.data(), layout_->config.dim);
}

void ForwardPass::add_and_norm(const float* addend, std::span<const float> weight, uint32_t count, const uint32_t* rows,
                               int32_t layer) {
  const OpScope scope(observer_, stats_, {"norm", layer, KernelClass::norm, 0, 0});
  const uint32_t dim = layout_->config.dim;
  for_each(count, uint64_t{count} * dim, [&](uint32_t i, unsigned) {
    const size_t from = (rows == nullptr ? i : rows[i]) * size_t{dim};
    float* residual = residual_.data() + from;
    if (addend != nullptr) {
      for (uint32_t d = 0; d < dim; ++d) residual[d] += addend[from + d];
    }
    kernels_->rms_norm(residual, weight.data(), dim, layout_->config.norm_epsilon, normed_.data() + size_t{i} * dim);
  });
}

void ForwardPass::rotate_and_store(uint32_t layer, KvCache& cache, std::span<const PassToken> tokens) {
  const ModelConfig& config = layout_->config;
  const OpScope scope(observer_, stats_, {"rope", static_cast<int32_t>(layer), KernelClass::rope, 0, 0});
  const size_t pairs = frequencies_.size();
  const auto rotate = [&](float* head, size_t t) {
    const float* cosine = cosines_.data() + t * pairs;
    const float* sine = sines_.data() + t * pairs;
    for (size_t pair = 0; pair < pairs; ++pair) {
      const float even = head[2 * pair], odd = head[2 * pair + 1];
      head[2 * pair] = even * cosine[pair] - odd * sine[pair];
      head[2 * pair + 1] = even * sine[pair] + odd * cosine[pair];
    }
  };
  const auto store = [&](std::byte* rows, const float* values, uint32_t position) {
    if (cache.type() == KvType::f32) {
      std::memcpy(rows + size_t{position} * config.head_dim * 4, values, size_t{config.head_dim} * 4);
    } else {
      kernels_->to_half(values, config.head_dim,
                        reinterpret_cast<uint16_t*>(rows) + size_t{position} * config.head_dim);
    }
  };
  for_each(count_, uint64_t{count_} * (config.q_dim() + config.kv_dim()), [&](uint32_t t, unsigned) {
    const PassToken& token = tokens[t];
    for (uint32_t head = 0; head < config.heads; ++head) {
      rotate(query_.data() + size_t{t} * config.q_dim() + size_t{head} * config.head_dim, t);
    }
    for (uint32_t head = 0; head < config.kv_heads; ++head) {
      const size_t at = size_t{t} * config.kv_dim() + size_t{head} * config.head_dim;
      rotate(key_.data() + at, t);
      store(cache.keys(layer, token.slot, head), key_.data() + at, token.position);
      store(cache.values(layer, token.slot, head), value_.data() + at, token.position);
    }
  });
  if (stats_ != nullptr) stats_->kv_bytes_written += cache.bytes_per_position() / config.layers * count_;
}

void ForwardPass::attend(uint32_t layer, const KvCache& cache, std::span<const PassToken> tokens) {
  const ModelConfig& config = layout_->config;
  uint64_t positions = 0, distinct = 0;
  for (size_t t = 0; t < tokens.size(); ++t) {
    positions += tokens[t].position + 1;
    const bool last_of_slot = t + 1 == tokens.size() || tokens[t + 1].slot != tokens[t].slot;
    if (last_of_slot) distinct += tokens[t].position + 1;
  }
  const uint64_t flops = positions * config.q_dim() * 4;
  const uint64_t bytes = distinct * (cache.bytes_per_position() / config.layers);
  const OpScope scope(observer_, stats_,
                      {"attention", static_cast<int32_t>(layer), KernelClass::attention, flops, bytes});
  if (stats_ != nullptr) stats_->kv_bytes_read += bytes;

  const uint32_t group = config.heads / config.kv_heads;
  const float scale = 1.0F / std::sqrt(static_cast<float>(config.head_dim));
  const Attention kernel = cache.type() == KvType::f32 ? kernels_->attention_f32 : kernels_->attention_f16;
  for_each(config.kv_heads * count_, flops / 4, [&](uint32_t piece, unsigned thread) {
    const uint32_t head = piece / count_, t = piece % count_;
    const size_t at = size_t{t} * config.q_dim() + size_t{head} * group * config.head_dim;
    AttentionTask task;
    task.query = query_.data() + at;
    task.keys = cache.keys(layer, tokens[t].slot, head);
    task.values = cache.values(layer, tokens[t].slot, head);
    task.scratch = scratch_[thread].data();
    task.out = mixed_.data() + at;
    task.heads = group;
    task.head_dim = config.head_dim;
    task.positions = tokens[t].position + 1;
    task.scale = scale;
    kernel(task);
  });
}

void ForwardPass::activate(int32_t layer) {
  const OpScope scope(observer_, stats_, {"swiglu", layer, KernelClass::elementwise, 0, 0});
  const uint32_t ffn = layout_->config.ffn;
  for_each(count_, uint64_t{count_} * ffn * 2, [&](uint32_t t, unsigned) {
    kernels_->swiglu(gate_.data() + size_t{t} * ffn, up_.data() + size_t{t} * ffn, ffn);
  });
}

}  // namespace dmengine
