#include "samples/engine/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "samples/engine/model/forward_pass.h"

namespace dmengine {

uint32_t Batch::tokens() const {
  size_t total = 0;
  for (const SequenceChunk& chunk : sequences) total += chunk.tokens.size();
  return static_cast<uint32_t>(total);
}

uint32_t Batch::logit_rows() const {
  size_t total = 0;
  for (const SequenceChunk& chunk : sequences) {
    if (chunk.logits == LogitRows::last) total += 1;
    if (chunk.logits == LogitRows::all) total += chunk.tokens.size();
  }
  return static_cast<uint32_t>(total);
}

struct Model::Impl {
  ForwardPass pass;
  std::vector<PassToken> tokens;

  Status check(const KvCache& cache, const Batch& batch, size_t logits) const;
  void flatten(const Batch& batch, float* logits);
};

namespace {
tl::unexpected<Error> refused(const std::string& detail) {
  return fail(ErrorKind::usage, fmt::format("this batch cannot run: {}", detail));
}
}  // namespace

Status Model::Impl::check(const KvCache& cache, const Batch& batch, size_t logits) const {
  const ModelConfig& config = pass.layout().config;
  std::vector<bool> seen(cache.slots(), false);
  for (const SequenceChunk& chunk : batch.sequences) {
    if (chunk.slot >= cache.slots()) return refused(fmt::format("slot {} of {}", chunk.slot, cache.slots()));
    if (seen[chunk.slot])
      return refused(fmt::format("slot {} is named twice; put its tokens in one chunk", chunk.slot));
    seen[chunk.slot] = true;
    if (chunk.tokens.empty()) return refused(fmt::format("slot {} has no tokens; leave it out", chunk.slot));
    if (chunk.start != cache.length(chunk.slot)) {
      return refused(fmt::format("slot {} holds {} positions, the chunk starts at {}; truncate or fill it first",
                                 chunk.slot, cache.length(chunk.slot), chunk.start));
    }
    if (chunk.tokens.size() > cache.capacity() - chunk.start) {
      return refused(
          fmt::format("slot {} has room for {} positions, {} more were given to its {}; use a longer context",
                      chunk.slot, cache.capacity(), chunk.tokens.size(), chunk.start));
    }
    for (const int32_t token : chunk.tokens) {
      if (token < 0 || static_cast<uint32_t>(token) >= config.vocab) {
        return refused(fmt::format("token {} is outside the vocabulary of {}", token, config.vocab));
      }
    }
  }
  const size_t wanted = size_t{batch.logit_rows()} * config.vocab;
  if (logits != wanted) return refused(fmt::format("room for {} logits was given, {} are needed", logits, wanted));
  return {};
}

void Model::Impl::flatten(const Batch& batch, float* logits) {
  tokens.clear();
  const uint32_t vocab = pass.layout().config.vocab;
  for (const SequenceChunk& chunk : batch.sequences) {
    for (size_t i = 0; i < chunk.tokens.size(); ++i) {
      const bool last = i + 1 == chunk.tokens.size();
      const bool wanted = chunk.logits == LogitRows::all || (chunk.logits == LogitRows::last && last);
      tokens.push_back(
          {chunk.slot, chunk.start + static_cast<uint32_t>(i), chunk.tokens[i], wanted ? logits : nullptr});
      if (wanted) logits += vocab;
    }
  }
}

Model::Model(std::shared_ptr<const ModelLayout> layout, WeightSource& weights, ThreadPool& pool)
    : impl_(std::make_unique<Impl>(Impl{ForwardPass(std::move(layout), weights, pool), {}})) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const ModelConfig& Model::config() const { return impl_->pass.layout().config; }
const ModelLayout& Model::layout() const { return impl_->pass.layout(); }
void Model::set_observer(OpObserver* observer) { impl_->pass.set_observer(observer); }

Status Model::forward(KvCache& cache, const Batch& batch, std::span<float> logits, ForwardStats* stats) {
  DMPROF_TRY(impl_->check(cache, batch, logits.size()));
  impl_->flatten(batch, logits.data());
  const std::span<const PassToken> tokens(impl_->tokens);
  for (size_t first = 0; first < tokens.size(); first += max_pass_tokens) {
    DMPROF_TRY(
        impl_->pass.run(cache, tokens.subspan(first, std::min<size_t>(max_pass_tokens, tokens.size() - first)), stats));
  }
  for (const SequenceChunk& chunk : batch.sequences) {
    cache.set_length(chunk.slot, chunk.start + static_cast<uint32_t>(chunk.tokens.size()));
  }
  return {};
}

}  // namespace dmengine
