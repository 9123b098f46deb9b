#include "samples/engine/runtime/drafter.h"

#include <algorithm>

#include "samples/engine/speculation/random.h"

namespace dmengine {

ModelDrafter::ModelDrafter(Model& model, KvCache cache, const Sampling& sampling, std::optional<Token> end_of_text)
    : model_(model), cache_(std::move(cache)), sampling_(sampling), end_of_text_(end_of_text) {}

Status ModelDrafter::propose(std::span<Sequence* const> batch) {
  DMPROF_TRY(first_pass(batch));
  while (!drafting_.empty()) DMPROF_TRY(next_pass());
  return {};
}

// Catches up: everything in the text that the draft has not computed, ending in the first proposal of each sequence.
Status ModelDrafter::first_pass(std::span<Sequence* const> batch) {
  pass_.sequences.clear();
  drafting_.clear();
  for (Sequence* s : batch) {
    s->chain.clear();
    const std::uint32_t known = cache_.length(s->slot);
    const bool proposes = s->wanted > 0;
    const std::uint32_t end = proposes ? static_cast<std::uint32_t>(s->tokens.size()) : s->computed + s->chunk;
    if (end <= known || (!proposes && s->chunk == 0))
      continue;  // a sequence that drafts nothing is caught up with later
    const std::span<const Token> text = std::span<const Token>(s->tokens).subspan(known, end - known);
    pass_.sequences.push_back({s->slot, known, text, proposes ? LogitRows::last : LogitRows::none});
    if (proposes) drafting_.push_back(s);
  }
  if (pass_.sequences.empty()) return {};
  logits_.resize(drafting_.size() * model_.config().vocab);
  DMPROF_TRY(model_.forward(cache_, pass_, logits_, &stats_));
  for (std::size_t i = 0; i < drafting_.size(); ++i) {
    pick(*drafting_[i], std::span<const float>(logits_).subspan(i * model_.config().vocab, model_.config().vocab));
  }
  return {};
}

// One more token for every chain that is not complete. The last token of a chain is never fed: if it is accepted, the
// next first pass reads it.
Status ModelDrafter::next_pass() {
  std::erase_if(drafting_, [this](const Sequence* s) {
    return s->chain.tokens.size() >= s->wanted || s->chain.tokens.back() == end_of_text_;
  });
  if (drafting_.empty()) return {};
  pass_.sequences.clear();
  for (const Sequence* s : drafting_) {
    pass_.sequences.push_back(
        {s->slot, cache_.length(s->slot), std::span<const Token>(&s->chain.tokens.back(), 1), LogitRows::last});
  }
  logits_.resize(drafting_.size() * model_.config().vocab);
  DMPROF_TRY(model_.forward(cache_, pass_, logits_, &stats_));
  for (std::size_t i = 0; i < drafting_.size(); ++i) {
    pick(*drafting_[i], std::span<const float>(logits_).subspan(i * model_.config().vocab, model_.config().vocab));
  }
  return {};
}

void ModelDrafter::pick(Sequence& s, std::span<const float> logits) {
  if (sampling_.greedy()) {
    s.chain.tokens.push_back(argmax(logits));
    return;
  }
  const std::uint64_t position = s.tokens.size() + s.chain.tokens.size();
  std::vector<float>& q = s.chain.q.emplace_back();
  transformer_.apply(logits, sampling_, q);
  s.chain.tokens.push_back(draw(q, uniform(sampling_.seed, s.number, position, Draw::propose)));
}

void ModelDrafter::settle(const Sequence& sequence, std::uint32_t accepted) {
  // Called before the emitted tokens are appended: what stands is the text and the accepted part of the chain.
  cache_.truncate(sequence.slot, static_cast<std::uint32_t>(sequence.tokens.size()) + accepted);
}

NgramDrafter::NgramDrafter(std::uint32_t slots, std::optional<Token> end_of_text)
    : texts_(slots), end_of_text_(end_of_text) {}

Status NgramDrafter::propose(std::span<Sequence* const> batch) {
  for (Sequence* s : batch) {
    s->chain.clear();
    if (s->wanted == 0) continue;
    Text& text = texts_[s->slot];
    text.index.append(std::span<const Token>(s->tokens).subspan(text.read));
    text.read = s->tokens.size();
    text.index.propose(s->wanted, s->chain.tokens);
    const auto end = std::find(s->chain.tokens.begin(), s->chain.tokens.end(), end_of_text_);
    if (end != s->chain.tokens.end()) s->chain.tokens.erase(end + 1, s->chain.tokens.end());
  }
  return {};
}

}  // namespace dmengine
