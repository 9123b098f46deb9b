// Random rows of weights, each from its own seed, and their storage formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "samples/engine/gguf/tensor_type.h"

namespace dmengine {

// Fills a row with values of mean 0 and the given standard deviation, close to normal. Depends on nothing but the
// arguments; rows of the same tensor differ.
void random_row(uint64_t seed, uint64_t tensor, uint64_t row, float deviation, std::span<float> out);

// Replaces `out` by the row in its storage format. For Q8_0 the row must be a multiple of 32 long.
void encode_row(TensorType type, std::span<const float> row, std::vector<std::byte>& out);

}  // namespace dmengine
