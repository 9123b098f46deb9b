// The few parts of the protocol-buffer wire format that a trace needs: varints, fixed 64-bit values, bytes, nested
// messages.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace dmprof::exporting {

class ProtoMessage {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    raw_varint(std::uint64_t{field} << 3);
    raw_varint(value);
  }
  // Negative numbers take ten bytes, as int32 and int64 fields are defined.
  void signed_varint(std::uint32_t field, std::int64_t value) { varint(field, static_cast<std::uint64_t>(value)); }
  void real(std::uint32_t field, double value) {
    raw_varint((std::uint64_t{field} << 3) | 1);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
  }
  void text(std::uint32_t field, std::string_view value) {
    raw_varint((std::uint64_t{field} << 3) | 2);
    raw_varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const ProtoMessage& value) { text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace dmprof::exporting
