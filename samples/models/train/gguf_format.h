// Constants of the GGUF format that reader and writer share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dmprof::train::gguf {

inline constexpr std::uint32_t magic = 0x46554747u;  // "GGUF"
inline constexpr std::uint32_t version = 3;
inline constexpr std::size_t alignment = 32;

enum class Type : std::uint32_t { u32 = 4, i32 = 5, f32 = 6, boolean = 7, string = 8, array = 9 };
enum class TensorType : std::uint32_t { f32 = 0, q8_0 = 8 };

// A Q8_0 block: a half-precision scale, then 32 signed bytes.
inline constexpr int block_values = 32;
inline constexpr std::size_t block_bytes = 34;

inline std::size_t padded(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace dmprof::train::gguf
