// The forward pass of a Llama-architecture decoder over a batch of sequences.
//
// Invariant that lossless speculation rests on: the logits of a token depend on nothing but the weights, the tokens
// before it in its own sequence, and the CPU's instruction set. Batch composition, chunking, thread count and block
// size change no bit of them.
//
// A Model is used by one thread at a time; it runs its kernels on the pool it was given. Several models may share a
// pool and a thread (target and draft).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "samples/engine/kernels/thread_pool.h"
#include "samples/engine/model/config.h"
#include "samples/engine/model/kv_cache.h"
#include "samples/engine/model/weights.h"

namespace dmengine {

enum class LogitRows : uint8_t { none, last, all };

// Consecutive tokens of one sequence: a prompt's chunk, one token, or a token and its drafts to verify.
struct SequenceChunk {
  uint32_t slot = 0;                   // in the KV cache; a slot appears at most once in a batch
  uint32_t start = 0;                  // position of tokens[0]; must equal the slot's length
  std::span<const int32_t> tokens;     // at least one
  LogitRows logits = LogitRows::last;  // which of them need logits
};

struct Batch {
  std::vector<SequenceChunk> sequences;

  uint32_t tokens() const;
  uint32_t logit_rows() const;  // rows forward() writes: in the order of sequences, then of tokens
};

enum class KernelClass : uint8_t { embed, matmul, attention, norm, rope, elementwise, count };

struct KernelTotals {
  uint64_t calls = 0;
  uint64_t nanoseconds = 0;  // wall time of the coordinating thread inside the kernel, waiting for blocks excluded
  uint64_t flops = 0;        // of matrix products and attention, 2 a multiply-add
  uint64_t bytes = 0;        // parameters and KV read
};

struct ForwardStats {
  uint64_t parameter_bytes = 0;  // that entered arithmetic: whole blocks, and one row a token from the embedding
  uint64_t kv_bytes_read = 0;    // each position of a sequence once a pass, however many of its tokens share the pass
  uint64_t kv_bytes_written = 0;
  uint64_t flops = 0;
  uint64_t acquire_nanoseconds = 0;  // waiting for blocks
  KernelTotals kernels[static_cast<size_t>(KernelClass::count)];
};

struct OpInfo {
  // Static string, in the order of a pass: embed, then per layer norm, qkv, rope, attention, wo, norm, gate_up, swiglu,
  // down, then norm, output.
  const char* name = "";
  int32_t layer = -1;
  KernelClass kernel = KernelClass::matmul;
  uint64_t flops = 0;
  uint64_t bytes = 0;
};

// Told about each operation, on the calling thread. Costs one predictable branch an operation when unset.
class OpObserver {
 public:
  virtual ~OpObserver() = default;
  virtual void op_begin(const OpInfo& op) = 0;
  virtual void op_end(const OpInfo& op) = 0;
};

class Model {
 public:
  // Tokens that share one pass over the weights; larger batches are cut into several passes.
  static constexpr uint32_t max_pass_tokens = 64;

  // `pool` and `weights` must outlive the model.
  Model(std::shared_ptr<const ModelLayout> layout, WeightSource& weights, ThreadPool& pool);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const ModelConfig& config() const;
  const ModelLayout& layout() const;
  void set_observer(OpObserver* observer);  // nullptr: none

  // Runs the batch, appends its keys and values to `cache` and writes batch.logit_rows() rows of config().vocab values.
  // `stats`, when given, is added to. usage: a slot out of range or named twice, no tokens, a token outside the
  // vocabulary, a start that is not the slot's length, no room left in the slot, or logits of the wrong size (nothing
  // was changed). environment: a block could not be read (the lengths are as before).
  Status forward(KvCache& cache, const Batch& batch, std::span<float> logits, ForwardStats* stats = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dmengine
