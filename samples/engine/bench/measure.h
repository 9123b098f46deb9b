// What the machine can do, measured beside the model: the denominators of `dm-engine bench`.
#pragma once

#include <cstdint>

#include "samples/engine/gguf/tensor_type.h"
#include "samples/engine/kernels/thread_pool.h"
#include "samples/engine/model/mapped_memory.h"

namespace dmengine {

uint64_t last_level_cache_bytes();  // 0 when the system does not say

// Reads a buffer four times the last-level cache (at least 256 MiB) with all threads of the pool, eight streams each.
class ReadBandwidth {
 public:
  static dmprof::Result<ReadBandwidth> prepare();
  double bytes_per_second(ThreadPool& pool) const;  // of one pass

 private:
  MappedMemory buffer_;
};

// Multiply-adds a second of the engine's own matrix product for `tokens` tokens, on weights that stay in a near cache.
double multiply_adds_per_second(ThreadPool& pool, TensorType type, uint32_t tokens);

}  // namespace dmengine
