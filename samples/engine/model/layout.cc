#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include "samples/engine/gguf/byte_reader.h"
#include "samples/engine/kernels/half.h"
#include "samples/engine/model/weights.h"

namespace dmengine {

namespace {

constexpr uint32_t row_tile = 8;  // block borders keep to multiples of it: kernels work on several rows at once

class LayoutBuilder {
 public:
  LayoutBuilder(const GgufFile& file, uint64_t block_bytes) : file_(file), block_bytes_(block_bytes) {}

  Result<std::shared_ptr<const ModelLayout>> build();

 private:
  tl::unexpected<Error> bad(const std::string& detail) const {
    return fail(ErrorKind::bad_input,
                fmt::format("model '{}': {}; this engine runs plain Llama decoders, convert or choose "
                            "another model",
                            file_.path(), detail));
  }
  Result<const TensorInfo*> tensor(const std::string& name, uint64_t rows, uint64_t columns);
  Status matrix(const std::string& name, int32_t layer, uint32_t rows, uint32_t columns, uint32_t& out);
  Status norm(const std::string& name, std::vector<float>& out);
  Status read_layer(uint32_t index);
  Status refuse_unknown_tensors() const;

  const GgufFile& file_;
  uint64_t block_bytes_;
  std::shared_ptr<ModelLayout> layout_ = std::make_shared<ModelLayout>();
  std::set<std::string, std::less<>> used_;
};

Result<const TensorInfo*> LayoutBuilder::tensor(const std::string& name, uint64_t rows, uint64_t columns) {
  const TensorInfo* info = file_.find_tensor(name);
  if (info == nullptr) return bad(fmt::format("the tensor '{}' is missing", name));
  if (info->rows != rows || info->columns != columns) {
    return bad(fmt::format("the tensor '{}' has {} x {} values, expected {} x {}", name, info->columns, info->rows,
                           columns, rows));
  }
  used_.insert(name);
  return info;
}

Status LayoutBuilder::matrix(const std::string& name, int32_t layer, uint32_t rows, uint32_t columns, uint32_t& out) {
  auto info = tensor(name, rows, columns);
  if (!info) return tl::unexpected(info.error());
  MatrixInfo matrix;
  matrix.tensor = name;
  matrix.layer = layer;
  matrix.type = (*info)->type;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.row_bytes = static_cast<uint32_t>(row_bytes(matrix.type, columns));
  matrix.first_block = static_cast<uint32_t>(layout_->blocks.size());
  auto fitting = static_cast<uint32_t>(std::clamp<uint64_t>(block_bytes_ / matrix.row_bytes, 1, rows));
  if (fitting > row_tile) fitting = fitting / row_tile * row_tile;
  // Even slices: as many as are needed, none much smaller than the others.
  const uint32_t slices = (rows + fitting - 1) / fitting;
  uint32_t per_block = (rows + slices - 1) / slices;
  if (fitting >= row_tile) per_block = std::min({(per_block + row_tile - 1) / row_tile * row_tile, fitting, rows});
  matrix.rows_per_block = per_block;
  for (uint32_t first = 0; first < rows; first += per_block) {
    BlockInfo block;
    block.id = static_cast<uint32_t>(layout_->blocks.size());
    block.layer = layer;
    block.tensor = name;
    block.matrix = static_cast<uint32_t>(layout_->matrices.size());
    block.first_row = first;
    block.rows = std::min(per_block, rows - first);
    block.row_bytes = matrix.row_bytes;
    block.file_offset = (*info)->file_offset + uint64_t{first} * matrix.row_bytes;
    block.bytes = uint64_t{block.rows} * matrix.row_bytes;
    layout_->blocks.push_back(std::move(block));
  }
  matrix.block_count = static_cast<uint32_t>(layout_->blocks.size()) - matrix.first_block;
  out = static_cast<uint32_t>(layout_->matrices.size());
  layout_->matrices.push_back(std::move(matrix));
  return {};
}

Status LayoutBuilder::norm(const std::string& name, std::vector<float>& out) {
  auto info = tensor(name, 1, layout_->config.dim);
  if (!info) return tl::unexpected(info.error());
  if ((*info)->type == TensorType::q8_0) return bad(fmt::format("the norm '{}' is quantised", name));
  auto reader = ByteReader::open(file_.path());
  if (!reader) return tl::unexpected(reader.error());
  DMPROF_TRY(reader->skip((*info)->file_offset, "a norm"));
  out.resize(layout_->config.dim);
  if ((*info)->type == TensorType::f32) return reader->read(out.data(), out.size() * sizeof(float), "a norm");
  std::vector<uint16_t> halves(out.size());
  DMPROF_TRY(reader->read(halves.data(), halves.size() * sizeof(uint16_t), "a norm"));
  std::transform(halves.begin(), halves.end(), out.begin(), half_to_float);
  return {};
}

Status LayoutBuilder::read_layer(uint32_t index) {
  const ModelConfig& config = layout_->config;
  const auto name = [index](const char* part) { return fmt::format("blk.{}.{}.weight", index, part); };
  const auto layer = static_cast<int32_t>(index);
  LayerLayout out;
  DMPROF_TRY(norm(name("attn_norm"), out.attention_norm));
  DMPROF_TRY(matrix(name("attn_q"), layer, config.q_dim(), config.dim, out.wq));
  DMPROF_TRY(matrix(name("attn_k"), layer, config.kv_dim(), config.dim, out.wk));
  DMPROF_TRY(matrix(name("attn_v"), layer, config.kv_dim(), config.dim, out.wv));
  DMPROF_TRY(matrix(name("attn_output"), layer, config.dim, config.q_dim(), out.wo));
  DMPROF_TRY(norm(name("ffn_norm"), out.ffn_norm));
  DMPROF_TRY(matrix(name("ffn_gate"), layer, config.ffn, config.dim, out.gate));
  DMPROF_TRY(matrix(name("ffn_up"), layer, config.ffn, config.dim, out.up));
  DMPROF_TRY(matrix(name("ffn_down"), layer, config.dim, config.ffn, out.down));
  layout_->layers.push_back(std::move(out));
  return {};
}

Status LayoutBuilder::refuse_unknown_tensors() const {
  for (const TensorInfo& info : file_.tensors()) {
    if (!used_.contains(info.name))
      return bad(fmt::format("the tensor '{}' is not part of such a model", info.name.substr(0, 60)));
  }
  return {};
}

Result<std::shared_ptr<const ModelLayout>> LayoutBuilder::build() {
  auto config = read_config(file_);
  if (!config) return tl::unexpected(config.error());
  layout_->path = file_.path();
  layout_->file_bytes = file_.file_bytes();
  layout_->config = *config;
  const auto steps = [&]() -> Status {
    if (!config->tied_output) {
      DMPROF_TRY(matrix("token_embd.weight", -1, config->vocab, config->dim, layout_->embedding));
    }
    for (uint32_t layer = 0; layer < config->layers; ++layer) DMPROF_TRY(read_layer(layer));
    DMPROF_TRY(norm("output_norm.weight", layout_->output_norm));
    const char* output = config->tied_output ? "token_embd.weight" : "output.weight";
    DMPROF_TRY(matrix(output, -1, config->vocab, config->dim, layout_->output));
    if (config->tied_output) layout_->embedding = layout_->output;
    return refuse_unknown_tensors();
  };
  if (auto status = steps(); !status) return tl::unexpected(status.error());
  return layout_;
}

}  // namespace

Result<std::shared_ptr<const ModelLayout>> ModelLayout::read(const GgufFile& file, uint64_t block_bytes) {
  if (block_bytes == 0) return fail(ErrorKind::usage, "a block of 0 bytes is not possible; use 64KiB to 256KiB");
  return LayoutBuilder(file, block_bytes).build();
}

uint64_t ModelLayout::parameter_bytes() const {
  uint64_t total = 0;
  for (const BlockInfo& block : blocks) total += block.bytes;
  return total;
}

uint64_t ModelLayout::largest_block_bytes() const {
  uint64_t largest = 0;
  for (const BlockInfo& block : blocks) largest = std::max(largest, block.bytes);
  return largest;
}

uint32_t ModelLayout::block_of_row(uint32_t matrix, uint32_t row) const {
  return matrices[matrix].first_block + row / matrices[matrix].rows_per_block;
}

}  // namespace dmengine
