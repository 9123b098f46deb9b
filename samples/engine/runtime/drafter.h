// Candidate generation: proposes the tokens that the target then checks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "samples/engine/model/model.h"
#include "samples/engine/runtime/sequence.h"
#include "samples/engine/speculation/ngram.h"

namespace dmengine {

// Used by the engine thread alone.
class Drafter {
 public:
  virtual ~Drafter() = default;

  // A sequence takes a slot: whatever the slot remembered is forgotten.
  virtual void open(std::uint32_t slot) = 0;
  // Fills chain (with at most `wanted` tokens, none after an end of text) for every decoding sequence, all of them
  // together, and reads along the piece of prompt that the target is about to compute for the others.
  virtual Status propose(std::span<Sequence* const> batch) = 0;
  // The target kept `accepted` tokens of the chain.
  virtual void settle(const Sequence& sequence, std::uint32_t accepted) = 0;
  // Whether propose would read anything in this step when no draft is wanted.
  virtual bool reads_prompts() const = 0;
};

// A small model with the target's vocabulary. Its KV cache follows the target's: rejected drafts are forgotten, and the
// tokens it did not compute itself (the last draft of a fully accepted chain, the bonus token, windows without
// speculation) are caught up with in the next pass.
class ModelDrafter : public Drafter {
 public:
  // `model` must outlive the drafter; `cache` has a slot for each of the target's.
  ModelDrafter(Model& model, KvCache cache, const Sampling& sampling, std::optional<Token> end_of_text);

  void open(std::uint32_t slot) override { cache_.truncate(slot, 0); }
  Status propose(std::span<Sequence* const> batch) override;
  void settle(const Sequence& sequence, std::uint32_t accepted) override;
  bool reads_prompts() const override { return true; }

  const ForwardStats& stats() const { return stats_; }

 private:
  Status first_pass(std::span<Sequence* const> batch);
  Status next_pass();
  void pick(Sequence& sequence, std::span<const float> logits);

  Model& model_;
  KvCache cache_;
  Sampling sampling_;
  std::optional<Token> end_of_text_;
  Transformer transformer_;
  ForwardStats stats_;
  Batch pass_;
  std::vector<Sequence*> drafting_;  // sequences of pass_ that get logits, in its order
  std::vector<float> logits_;
};

// Lookup in the sequence's own text (see ngram.h).
class NgramDrafter : public Drafter {
 public:
  NgramDrafter(std::uint32_t slots, std::optional<Token> end_of_text);

  void open(std::uint32_t slot) override { texts_[slot] = {}; }
  Status propose(std::span<Sequence* const> batch) override;
  void settle(const Sequence&, std::uint32_t) override {}
  bool reads_prompts() const override { return false; }

 private:
  struct Text {
    NgramIndex index;
    std::size_t read = 0;  // tokens of the sequence that are in the index
  };

  std::vector<Text> texts_;
  std::optional<Token> end_of_text_;
};

}  // namespace dmengine
