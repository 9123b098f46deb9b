// Matrix products over blocks, and the embedding lookup: the parts of a pass that read parameters.
#include <algorithm>
#include <cstring>

#include "samples/engine/kernels/half.h"
#include "samples/engine/model/forward_pass.h"
#include "samples/engine/model/op_scope.h"

namespace dmengine {

namespace {

constexpr uint32_t row_tile = 8;
constexpr uint64_t largest_piece = 96 * 1024;  // small enough that threads end together, large enough to stream
constexpr uint64_t smallest_piece = 4 * 1024;

void dequantize(TensorType type, const std::byte* row, uint32_t width, float* out) {
  if (type == TensorType::f32) {
    std::memcpy(out, row, size_t{width} * 4);
    return;
  }
  uint16_t half = 0;
  if (type == TensorType::f16) {
    for (uint32_t i = 0; i < width; ++i) {
      std::memcpy(&half, row + size_t{2} * i, 2);
      out[i] = half_to_float(half);
    }
    return;
  }
  for (uint32_t i = 0; i < width; ++i) {
    const std::byte* block = row + size_t{i / 32} * 34;
    std::memcpy(&half, block, 2);
    out[i] = half_to_float(half) * static_cast<float>(static_cast<int8_t>(block[2 + i % 32]));
  }
}

}  // namespace

Status ForwardPass::embed(std::span<const PassToken> tokens) {
  const MatrixInfo& matrix = layout_->matrices[layout_->embedding];
  const uint64_t bytes = tokens.size() * matrix.row_bytes;
  OpScope scope(observer_, stats_, {"embed", -1, KernelClass::embed, 0, bytes});
  for (size_t t = 0; t < tokens.size(); ++t) {
    const auto row = static_cast<uint32_t>(tokens[t].token);
    const uint32_t block = layout_->block_of_row(layout_->embedding, row);
    const auto data = scope.waiting([&] { return weights_->acquire(block); });
    if (!data) return tl::unexpected(data.error());
    const size_t at = size_t{row - layout_->blocks[block].first_row} * matrix.row_bytes;
    dequantize(matrix.type, data->data() + at, matrix.columns, residual_.data() + t * matrix.columns);
    weights_->release(block);
  }
  if (stats_ != nullptr) stats_->parameter_bytes += bytes;
  return {};
}

void ForwardPass::cut(uint32_t block, std::span<const std::byte> bytes, const Product& product, uint64_t piece_bytes) {
  const BlockInfo& info = layout_->blocks[block];
  // Even pieces, of whole row tiles.
  const uint32_t pieces = static_cast<uint32_t>((info.bytes + piece_bytes - 1) / piece_bytes);
  const uint32_t even = (info.rows + pieces - 1) / pieces;
  const uint32_t step = (even + row_tile - 1) / row_tile * row_tile;
  for (uint32_t row = 0; row < info.rows; row += step) {
    Piece piece;
    piece.weights = bytes.data() + size_t{row} * info.row_bytes;
    piece.rows = std::min(step, info.rows - row);
    piece.row_bytes = info.row_bytes;
    piece.type = layout_->matrices[product.matrix].type;
    piece.out = product.out + info.first_row + row;
    piece.out_stride = product.out_stride;
    pieces_.push_back(piece);
  }
}

Status ForwardPass::multiply(const char* name, int32_t layer, std::span<const Product> products, const float* values,
                             uint32_t width) {
  struct Part {
    uint32_t block;
    const Product* product;
  };
  std::vector<Part> parts;
  uint64_t bytes = 0, weights = 0;
  bool quantized = false;
  for (const Product& product : products) {
    const MatrixInfo& matrix = layout_->matrices[product.matrix];
    for (uint32_t b = 0; b < matrix.block_count; ++b) parts.push_back({matrix.first_block + b, &product});
    bytes += uint64_t{matrix.rows} * matrix.row_bytes;
    weights += uint64_t{matrix.rows} * matrix.columns;
    quantized = quantized || matrix.type == TensorType::q8_0;
  }
  OpScope scope(observer_, stats_, {name, layer, KernelClass::matmul, 2 * weights * count_, bytes});
  if (stats_ != nullptr) stats_->parameter_bytes += bytes;

  if (quantized) {
    for_each(count_, uint64_t{count_} * width / 2, [&](uint32_t t, unsigned) { quantize_row(values, width, t); });
  }
  const Activations x{values, quants_.data(), scales_.data(), count_, width};
  const uint64_t piece_bytes = std::clamp(bytes / (uint64_t{pool_->threads()} * 8), smallest_piece, largest_piece);
  const uint64_t cost_per_byte_16 = 2 + count_;  // sixteenths of a nanosecond a byte of weights
  const size_t held = std::max(weights_->max_held(), 1U);

  for (size_t first = 0; first < parts.size(); first += held) {
    const size_t end = first + std::min(held, parts.size() - first);
    pieces_.clear();
    uint64_t group_bytes = 0;
    for (size_t i = first; i < end; ++i) {
      const auto data = scope.waiting([&] { return weights_->acquire(parts[i].block); });
      if (!data) {
        for (size_t j = first; j < i; ++j) weights_->release(parts[j].block);
        return tl::unexpected(data.error());
      }
      cut(parts[i].block, *data, *parts[i].product, piece_bytes);
      group_bytes += data->size();
    }
    for_each(static_cast<uint32_t>(pieces_.size()), group_bytes * cost_per_byte_16 / 16, [&](uint32_t i, unsigned) {
      const Piece& piece = pieces_[i];
      kernels_->matmul(piece.type)(piece.weights, piece.row_bytes, piece.rows, x, piece.out, piece.out_stride);
    });
    for (size_t i = first; i < end; ++i) weights_->release(parts[i].block);
  }
  return {};
}

void ForwardPass::quantize_row(const float* values, uint32_t width, uint32_t row) {
  kernels_->quantize(values + size_t{row} * width, width, quants_.data() + size_t{row} * width,
                     scales_.data() + size_t{row} * (width / 32) * scale_copies);
}

}  // namespace dmengine
