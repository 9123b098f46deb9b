// LEB128 varints (7 bits a byte, lowest first) and zigzag, without a branch per byte: values below 2^56 are spread over
// eight bytes with shifts and masks, since mixed lengths would cost a misprediction each.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace dmprof::store {

inline constexpr std::size_t max_varint_bytes = 10;

constexpr std::uint64_t zigzag(std::uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
constexpr std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

// Writes up to 10 bytes at `out`, which must have room for 10, and returns the end.
inline std::uint8_t* put_varint(std::uint8_t* out, std::uint64_t value) {
  if (value < 0x80) {
    *out = static_cast<std::uint8_t>(value);
    return out + 1;
  }
  if (value < (1ULL << 56)) {
    const unsigned bytes = (static_cast<unsigned>(std::bit_width(value)) + 6) / 7;  // 2 … 8
    std::uint64_t spread = (value & 0x0FFFFFFF) | ((value & 0x00FFFFFFF0000000) << 4);
    spread = (spread & 0x00003FFF00003FFF) | ((spread & 0x0FFFC0000FFFC000) << 2);
    spread = (spread & 0x007F007F007F007F) | ((spread & 0x3F803F803F803F80) << 1);
    spread |= 0x8080808080808080 & ((1ULL << (8 * (bytes - 1))) - 1);
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(out, &spread, 8);
    return out + bytes;
  }
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

// Takes the continuation bits out of a varint of up to 8 bytes; bytes above it must be 0.
constexpr std::uint64_t squeeze(std::uint64_t spread) {
  spread = (spread & 0x007F007F007F007F) | ((spread & 0x7F007F007F007F00) >> 1);
  spread = (spread & 0x00003FFF00003FFF) | ((spread & 0x3FFF00003FFF0000) >> 2);
  return (spread & 0x0FFFFFFF) | ((spread & 0x0FFFFFFF00000000) >> 4);
}

inline constexpr std::uint64_t varint_ends = 0x8080808080808080;

// Reads one varint from [in, end). Returns the position after it, or nullptr when it is cut off or longer than 64 bits.
inline const std::uint8_t* get_varint(const std::uint8_t* in, const std::uint8_t* end, std::uint64_t& value) {
  if (end - in >= 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, in, 8);
    const std::uint64_t last = ~bytes & varint_ends;
    if (last != 0) {
      const unsigned bits = static_cast<unsigned>(std::countr_zero(last)) + 1;  // 8, 16, … 64
      value = squeeze(bytes & (~0ULL >> (64 - bits)));
      return in + bits / 8;
    }
  }
  std::uint64_t sum = 0;
  for (unsigned shift = 0; shift < 64 && in != end; shift += 7) {
    const std::uint8_t byte = *in++;
    if (shift == 63 && byte > 1) return nullptr;
    sum |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      value = sum;
      return in;
    }
  }
  return nullptr;
}

// Reads two varints at once when both end within the next 8 bytes, which halves the wait for the position of the next
// one. Returns the position after them, or nullptr when they do not: read them one by one then.
inline const std::uint8_t* get_two_varints(const std::uint8_t* in, const std::uint8_t* end, std::uint64_t& first,
                                           std::uint64_t& second) {
  if (end - in < 8) return nullptr;
  std::uint64_t bytes;
  std::memcpy(&bytes, in, 8);
  const std::uint64_t ends = ~bytes & varint_ends;
  const std::uint64_t second_end = ends & (ends - 1);
  if (second_end == 0) return nullptr;
  const unsigned first_bits = static_cast<unsigned>(std::countr_zero(ends)) + 1;       // 8 … 56
  const unsigned both_bits = static_cast<unsigned>(std::countr_zero(second_end)) + 1;  // 16 … 64
  first = squeeze(bytes & (~0ULL >> (64 - first_bits)));
  second = squeeze((bytes & (~0ULL >> (64 - both_bits))) >> first_bits);
  return in + both_bits / 8;
}

}  // namespace dmprof::store
