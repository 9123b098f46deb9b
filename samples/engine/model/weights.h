// Parameters as a sequence of blocks: the unit in which weights are read, cached, predicted and prefetched.
//
// A block is one matrix or a slice of its rows, contiguous in the file, about `block_bytes` long. Blocks are numbered
// in the order the forward pass reads them; a tied output matrix comes last. A forward pass reads every block once,
// except that the embedding lookup of each token first reads the block that holds the token's row. Norms stay resident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "samples/engine/gguf/gguf.h"
#include "samples/engine/model/config.h"

namespace dmengine {

struct BlockInfo {
  uint32_t id = 0;
  int32_t layer = -1;  // -1: not part of a layer (embedding, output)
  std::string tensor;
  uint32_t matrix = 0;  // index into ModelLayout::matrices
  uint32_t first_row = 0;
  uint32_t rows = 0;
  uint32_t row_bytes = 0;
  uint64_t file_offset = 0;
  uint64_t bytes = 0;  // rows * row_bytes
};

struct MatrixInfo {
  std::string tensor;
  int32_t layer = -1;
  TensorType type = TensorType::f32;
  uint32_t rows = 0;     // outputs
  uint32_t columns = 0;  // inputs
  uint32_t row_bytes = 0;
  uint32_t first_block = 0;
  uint32_t block_count = 0;
  uint32_t rows_per_block = 0;  // every block but the last has this many
};

// Matrices of one layer, as indices into ModelLayout::matrices, and its norms.
struct LayerLayout {
  uint32_t wq = 0, wk = 0, wv = 0, wo = 0, gate = 0, up = 0, down = 0;
  std::vector<float> attention_norm;
  std::vector<float> ffn_norm;
};

// What a model file holds and how it is cut into blocks. Immutable once read; shared by the model and its weight
// source.
struct ModelLayout {
  static constexpr uint64_t default_block_bytes = 128 * 1024;

  // Checks every tensor's presence, shape and type, and reads the norms. `block_bytes` is the size aimed at (at least
  // one row a block).
  static Result<std::shared_ptr<const ModelLayout>> read(const GgufFile& file,
                                                         uint64_t block_bytes = default_block_bytes);

  std::string path;
  uint64_t file_bytes = 0;
  ModelConfig config;
  std::vector<BlockInfo> blocks;
  std::vector<MatrixInfo> matrices;
  std::vector<LayerLayout> layers;
  uint32_t embedding = 0;  // index into matrices; equal to `output` when tied
  uint32_t output = 0;
  std::vector<float> output_norm;

  uint64_t parameter_bytes() const;  // of all blocks, each counted once
  uint64_t largest_block_bytes() const;
  uint32_t block_of_row(uint32_t matrix, uint32_t row) const;
};

// Where blocks come from. One coordinating thread calls acquire and release; worker threads only read acquired spans.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  // The block's bytes (exactly BlockInfo::bytes), aligned to at least 2; they stay valid and in place until release.
  // May wait. environment when the block cannot be read: the forward pass ends with that error.
  virtual Result<std::span<const std::byte>> acquire(uint32_t block) = 0;
  virtual void release(uint32_t block) = 0;

  // How many blocks the engine may hold at once (at least 1). The engine acquires and computes in groups of up to this
  // many: large groups mean fewer thread barriers, small ones less memory and more overlap with fetching.
  virtual uint32_t max_held() const = 0;
};

// All parameters in memory, read once at opening. acquire never waits and never fails.
Result<std::unique_ptr<WeightSource>> open_resident_weights(std::shared_ptr<const ModelLayout> layout);

}  // namespace dmengine
