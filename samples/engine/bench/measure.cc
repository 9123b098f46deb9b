#include "samples/engine/bench/measure.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "samples/engine/gguf/gguf.h"
#include "samples/engine/kernels/kernels.h"

namespace dmengine {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr uint64_t piece_bytes = 1 << 20;
constexpr uint32_t read_width = 1024;  // floats a row

}  // namespace

uint64_t last_level_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

dmprof::Result<ReadBandwidth> ReadBandwidth::prepare() {
  const uint64_t wanted = std::max<uint64_t>(256ULL << 20, 4 * last_level_cache_bytes());
  auto buffer = MappedMemory::allocate(wanted / piece_bytes * piece_bytes, "the bandwidth measurement");
  if (!buffer) return tl::unexpected(buffer.error());
  std::memset(buffer->data(), 1, buffer->size());
  ReadBandwidth out;
  out.buffer_ = std::move(*buffer);
  return out;
}

// The F32 product of one token is the fastest reader here: eight streams, one multiply-add for 32 bytes.
double ReadBandwidth::bytes_per_second(ThreadPool& pool) const {
  constexpr uint32_t rows = piece_bytes / (read_width * sizeof(float));
  const std::vector<float> ones(read_width, 1.0F);
  const Activations x{ones.data(), nullptr, nullptr, 1, read_width};
  std::vector<std::vector<float>> out(pool.threads(), std::vector<float>(rows));
  const auto begin = Clock::now();
  pool.run(static_cast<uint32_t>(buffer_.size() / piece_bytes), [&](uint32_t piece, unsigned thread) {
    best_kernels().matmul_f32(buffer_.data() + uint64_t{piece} * piece_bytes, read_width * sizeof(float), rows, x,
                              out[thread].data(), rows);
  });
  return static_cast<double>(buffer_.size()) / seconds_since(begin);
}

double multiply_adds_per_second(ThreadPool& pool, TensorType type, uint32_t tokens) {
  constexpr uint32_t rows = 32, width = 1024, repeats = 20;
  const size_t bytes = row_bytes(type, width);
  const std::vector<std::byte> weights(rows * bytes);
  const std::vector<float> values(size_t{tokens} * width), scales(size_t{tokens} * width / 32 * scale_copies);
  const std::vector<int8_t> quants(size_t{tokens} * width);
  const Activations x{values.data(), quants.data(), scales.data(), tokens, width};
  const MatmulRows product = best_kernels().matmul(type);
  std::vector<std::vector<float>> out(pool.threads(), std::vector<float>(size_t{tokens} * rows));
  const uint32_t pieces = pool.threads() * 16;
  const auto begin = Clock::now();
  pool.run(pieces, [&](uint32_t, unsigned thread) {
    for (uint32_t i = 0; i < repeats; ++i) product(weights.data(), bytes, rows, x, out[thread].data(), rows);
  });
  return static_cast<double>(pieces) * repeats * rows * width * tokens / seconds_since(begin);
}

}  // namespace dmengine
