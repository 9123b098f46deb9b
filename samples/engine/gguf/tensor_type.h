// The storage formats the engine computes with.
#pragma once

#include <cstdint>

namespace dmengine {

// The numbers are those of the file format.
enum class TensorType : uint32_t { f32 = 0, f16 = 1, q8_0 = 8 };

}  // namespace dmengine
