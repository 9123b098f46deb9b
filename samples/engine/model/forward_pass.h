// One pass over all weights for up to Model::max_pass_tokens tokens. Internal to the model.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "samples/engine/kernels/kernels.h"
#include "samples/engine/kernels/thread_pool.h"
#include "samples/engine/model/kv_cache.h"
#include "samples/engine/model/model.h"
#include "samples/engine/model/weights.h"

namespace dmengine {

// A token of a pass and where its logits go (nullptr: nowhere).
struct PassToken {
  uint32_t slot = 0;
  uint32_t position = 0;
  int32_t token = 0;
  float* logits = nullptr;  // consecutive rows for the tokens of a pass that have them
};

class ForwardPass {
 public:
  ForwardPass(std::shared_ptr<const ModelLayout> layout, WeightSource& weights, ThreadPool& pool);

  void set_observer(OpObserver* observer) { observer_ = observer; }
  const ModelLayout& layout() const { return *layout_; }

  Status run(KvCache& cache, std::span<const PassToken> tokens, ForwardStats* stats);

 private:
  // A matrix product with all current activations; out has one row a token, `out_stride` apart.
  struct Product {
    uint32_t matrix = 0;
    float* out = nullptr;
    uint32_t out_stride = 0;
  };
  struct Piece {
    const std::byte* weights = nullptr;
    uint32_t rows = 0;
    uint32_t row_bytes = 0;
    TensorType type = TensorType::f32;
    float* out = nullptr;
    uint32_t out_stride = 0;
  };

  void reserve(uint32_t tokens, uint32_t positions);
  void prepare_rotation(std::span<const PassToken> tokens);
  Status embed(std::span<const PassToken> tokens);
  Status layer(uint32_t index, KvCache& cache, std::span<const PassToken> tokens);
  Status logits(std::span<const PassToken> tokens);
  // Residual += addend (when given); activations = norm of the residual, of `count` rows picked by `rows` (nullptr:
  // all).
  void add_and_norm(const float* addend, std::span<const float> weight, uint32_t count, const uint32_t* rows,
                    int32_t layer);
  void rotate_and_store(uint32_t layer, KvCache& cache, std::span<const PassToken> tokens);
  void attend(uint32_t layer, const KvCache& cache, std::span<const PassToken> tokens);
  void activate(int32_t layer);
  Status multiply(const char* name, int32_t layer, std::span<const Product> products, const float* values,
                  uint32_t width);
  void cut(uint32_t block, std::span<const std::byte> bytes, const Product& product, uint64_t piece_bytes);
  // Runs body(i) for all i, on the pool when the work is worth a wake-up.
  void for_each(uint32_t count, uint64_t cost, const std::function<void(uint32_t, unsigned)>& body);
  bool quantized_inputs(uint32_t matrix) const { return layout_->matrices[matrix].type == TensorType::q8_0; }
  void quantize_row(const float* values, uint32_t width, uint32_t row);

  std::shared_ptr<const ModelLayout> layout_;
  WeightSource* weights_;
  ThreadPool* pool_;
  const Kernels* kernels_;
  OpObserver* observer_ = nullptr;
  ForwardStats* stats_ = nullptr;
  uint32_t count_ = 0;  // tokens of the current activations

  std::vector<float> residual_, normed_, query_, key_, value_, mixed_, projected_, gate_, up_;
  std::vector<int8_t> quants_;
  std::vector<float> scales_;
  std::vector<double> frequencies_;          // radians a position, per rotated pair
  std::vector<float> cosines_, sines_;       // [token][pair]
  std::vector<std::vector<float>> scratch_;  // per thread: attention scores
  std::vector<Piece> pieces_;
};

}  // namespace dmengine
