// The unit of parameter or KV movement. What an id means is the owner's business; the reference engine numbers the
// blocks of its draft and its target in one space, so that one matrix and one cache see both.
#pragma once

#include <cstdint>

namespace dmprof::cachemodel {

using BlockId = std::uint64_t;

// Why a block was brought in.
enum class FetchCause : std::uint8_t { demand = 0, prefetch = 1 };

}  // namespace dmprof::cachemodel
