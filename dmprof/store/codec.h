// Columns to bytes and back (FORMAT.md, "Columns"). Every value travels as 64 bits; doubles keep every bit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/event/describe.h"
#include "dmprof/store/varint.h"

namespace dmprof::store {

inline constexpr std::size_t max_chunk_rows =
    1U << 20;  // a reader refuses more: bounds what a hostile file can make it allocate
inline constexpr std::size_t max_columns = 64;  // column_data.id = chunk * 64 + column

enum class Codec : std::uint8_t { constant = 0, plain = 1, delta = 2, real = 3 };

template <class T>
constexpr std::uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

// Grows without clearing what it adds.
class ByteBuffer {
 public:
  // Room for `more` bytes after size().
  std::uint8_t* reserve(std::size_t more) {
    if (capacity_ - size_ < more) grow(more);
    return data_.get() + size_;
  }
  void set_end(const std::uint8_t* end) { size_ = static_cast<std::size_t>(end - data_.get()); }
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  std::span<const std::uint8_t> bytes() const { return {data_.get(), size_}; }

 private:
  void grow(std::size_t more);
  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// One column of the chunk that is being filled.
class ColumnEncoder {
 public:
  explicit ColumnEncoder(Coding coding = Coding::plain) : coding_(coding) {}

  // Appends values given as bits. At most a few thousand a call: the caller's block stays in the cache.
  void append(std::span<const std::uint64_t> values);

  Codec codec() const;
  std::uint64_t constant() const { return first_; }
  const ByteBuffer& bytes() const { return bytes_; }
  ByteBuffer take_bytes() { return std::move(bytes_); }
  void restart(ByteBuffer spare = {});

 private:
  void encode(std::span<const std::uint64_t> values);

  Coding coding_;
  std::size_t constant_rows_ = 0;  // rows equal to first_ and not encoded: most columns never get further
  bool varies_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t previous_ = 0;
  ByteBuffer bytes_;
};

// A field of describe.h without its type: for checking what a file says a column holds, and for the SQL tables.
struct ColumnType {
  enum class Value : std::uint8_t { byte, word, number, time, real };  // as ChunkData returns it
  std::string_view name;
  Coding coding = Coding::plain;
  Meaning meaning = Meaning::number;
  Value value = Value::number;
  std::uint64_t largest = ~0ULL;            // largest allowed value, as bits
  std::span<const std::string_view> words;  // of an enumeration
};
std::span<const ColumnType> column_types(std::uint8_t kind);  // empty for an unknown kind

// Decodes `bytes` into exactly out.size() values. Fails when a varint is cut off, bytes are left, or a value is above
// `largest`. T: uint8_t, uint32_t, uint64_t, int64_t, double.
template <class T>
Status decode_column(Codec codec, std::uint64_t constant, std::span<const std::uint8_t> bytes, std::uint64_t largest,
                     std::span<T> out);

// One entry of chunk.columns.
struct ColumnEntry {
  Codec codec = Codec::constant;
  std::uint64_t constant = 0;   // the value, for Codec::constant
  std::uint64_t raw_bytes = 0;  // length of the varints before compression, otherwise
};
void put_directory(const std::vector<ColumnEntry>& entries, std::vector<std::uint8_t>& out);
// Columns that the chunk's writer did not know are constant 0. Checks every length against `rows`.
Result<std::vector<ColumnEntry>> get_directory(std::span<const std::uint8_t> bytes, std::uint64_t rows,
                                               std::size_t columns);

}  // namespace dmprof::store
