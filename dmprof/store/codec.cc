#include "dmprof/store/codec.h"

#include <algorithm>
#include <array>
#include <limits>

namespace dmprof::store {

namespace {

Error damaged(const char* what) {
  return {ErrorKind::bad_input, std::string("a column is damaged (") + what + "); record again or use a copy"};
}

template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <class E>
constexpr auto types_of() {
  std::array<ColumnType, field_count<E>> types{};
  for_each_field<E>([&](const auto& field, std::size_t index) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    types[index].name = field.name;
    types[index].coding = field.coding;
    types[index].meaning = field.meaning;
    if constexpr (std::is_enum_v<T>) {
      types[index].value = ColumnType::Value::byte;
      types[index].largest = Labels<T>::words.size() - 1;
      types[index].words = Labels<T>::words;
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
      types[index].value = ColumnType::Value::word;
      types[index].largest = std::numeric_limits<T>::max();
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      types[index].value = ColumnType::Value::time;
    } else if constexpr (std::is_same_v<T, double>) {
      types[index].value = ColumnType::Value::real;
    }
  });
  return types;
}

template <class E>
constexpr auto column_types_of = types_of<E>();

}  // namespace

void ByteBuffer::grow(std::size_t more) {
  const std::size_t wanted = std::max({size_ + more, capacity_ * 2, std::size_t{4096}});
  auto bigger = std::make_unique_for_overwrite<std::uint8_t[]>(wanted);
  std::copy_n(data_.get(), size_, bigger.get());
  data_ = std::move(bigger);
  capacity_ = wanted;
}

void ColumnEncoder::append(std::span<const std::uint64_t> values) {
  if (values.empty()) return;
  if (!varies_) {
    if (constant_rows_ == 0) first_ = values.front();
    std::uint64_t differs = 0;
    for (const std::uint64_t value : values) differs |= value ^ first_;
    if (differs == 0) {
      constant_rows_ += values.size();
      return;
    }
    varies_ = true;
    for (; constant_rows_ != 0; --constant_rows_) encode({&first_, 1});
  }
  encode(values);
}

void ColumnEncoder::encode(std::span<const std::uint64_t> values) {
  std::uint8_t* out = bytes_.reserve(values.size() * max_varint_bytes);
  std::uint64_t previous = previous_;
  switch (coding_) {
    case Coding::plain:
      for (const std::uint64_t value : values) out = put_varint(out, value);
      previous = values.back();
      break;
    case Coding::delta:
      for (const std::uint64_t value : values) {
        out = put_varint(out, zigzag(value - previous));
        previous = value;
      }
      break;
    case Coding::real:
      for (const std::uint64_t value : values) {
        out = put_varint(out, __builtin_bswap64(value ^ previous));
        previous = value;
      }
      break;
  }
  previous_ = previous;
  bytes_.set_end(out);
}

Codec ColumnEncoder::codec() const {
  if (!varies_) return Codec::constant;
  switch (coding_) {
    case Coding::delta:
      return Codec::delta;
    case Coding::real:
      return Codec::real;
    case Coding::plain:
      break;
  }
  return Codec::plain;
}

void ColumnEncoder::restart(ByteBuffer spare) {
  varies_ = false;
  constant_rows_ = 0;
  first_ = previous_ = 0;
  bytes_ = std::move(spare);
  bytes_.clear();
}

std::span<const ColumnType> column_types(std::uint8_t kind) {
  std::span<const ColumnType> found;
  for_each_event_type([&]<class E>() {
    if (Describe<E>::kind == kind) found = column_types_of<E>;
  });
  return found;
}

template <class T>
Status decode_column(Codec codec, std::uint64_t constant, std::span<const std::uint8_t> bytes, std::uint64_t largest,
                     std::span<T> out) {
  if (codec == Codec::constant) {
    if (constant > largest) return tl::unexpected(damaged("a value out of range"));
    std::fill(out.begin(), out.end(), from_bits<T>(constant));
    return {};
  }
  const std::uint8_t* in = bytes.data();
  const std::uint8_t* const end = in + bytes.size();
  std::uint64_t previous = 0;
  std::uint64_t above = 0;
  std::uint64_t value = 0;
  std::uint64_t second = 0;
  const auto decode = [&](auto step) {
    const auto put = [&](T& slot, std::uint64_t varint) {
      const std::uint64_t bits = step(varint);
      above |= static_cast<std::uint64_t>(bits > largest);
      slot = from_bits<T>(bits);
    };
    for (std::size_t i = 0; i < out.size();) {
      if (out.size() - i >= 2) {
        if (const std::uint8_t* after = get_two_varints(in, end, value, second); after != nullptr) {
          put(out[i], value);
          put(out[i + 1], second);
          in = after;
          i += 2;
          continue;
        }
      }
      in = get_varint(in, end, value);
      if (in == nullptr) return false;
      put(out[i++], value);
    }
    return true;
  };
  bool whole = false;
  switch (codec) {
    case Codec::plain:
      whole = decode([](std::uint64_t v) { return v; });
      break;
    case Codec::delta:
      whole = decode([&](std::uint64_t v) { return previous += unzigzag(v); });
      break;
    case Codec::real:
      whole = decode([&](std::uint64_t v) { return previous ^= __builtin_bswap64(v); });
      break;
    case Codec::constant:
      break;
  }
  if (!whole) return tl::unexpected(damaged("it ends too early"));
  if (in != end) return tl::unexpected(damaged("it holds more values than the chunk"));
  if (above != 0) return tl::unexpected(damaged("a value out of range"));
  return {};
}

template Status decode_column(Codec, std::uint64_t, std::span<const std::uint8_t>, std::uint64_t,
                              std::span<std::uint8_t>);
template Status decode_column(Codec, std::uint64_t, std::span<const std::uint8_t>, std::uint64_t,
                              std::span<std::uint32_t>);
template Status decode_column(Codec, std::uint64_t, std::span<const std::uint8_t>, std::uint64_t,
                              std::span<std::uint64_t>);
template Status decode_column(Codec, std::uint64_t, std::span<const std::uint8_t>, std::uint64_t,
                              std::span<std::int64_t>);
template Status decode_column(Codec, std::uint64_t, std::span<const std::uint8_t>, std::uint64_t, std::span<double>);

void put_directory(const std::vector<ColumnEntry>& entries, std::vector<std::uint8_t>& out) {
  out.resize(entries.size() * (1 + max_varint_bytes));
  std::uint8_t* end = out.data();
  for (const ColumnEntry& entry : entries) {
    *end++ = static_cast<std::uint8_t>(entry.codec);
    // put_varint may touch 8 bytes past a short value, always inside the room reserved for this entry.
    end = put_varint(end, entry.codec == Codec::constant ? entry.constant : entry.raw_bytes);
  }
  out.resize(static_cast<std::size_t>(end - out.data()));
}

Result<std::vector<ColumnEntry>> get_directory(std::span<const std::uint8_t> bytes, std::uint64_t rows,
                                               std::size_t columns) {
  if (rows == 0 || rows > max_chunk_rows) return tl::unexpected(damaged("a chunk with an impossible number of rows"));
  std::vector<ColumnEntry> entries(columns);
  const std::uint8_t* in = bytes.data();
  const std::uint8_t* const end = in + bytes.size();
  for (ColumnEntry& entry : entries) {
    if (in == end) break;
    if (*in > static_cast<std::uint8_t>(Codec::real)) return tl::unexpected(damaged("an unknown coding"));
    entry.codec = static_cast<Codec>(*in++);
    std::uint64_t value = 0;
    in = get_varint(in, end, value);
    if (in == nullptr) return tl::unexpected(damaged("the list of columns ends too early"));
    if (entry.codec == Codec::constant) {
      entry.constant = value;
    } else {
      if (value < rows || value > rows * max_varint_bytes) return tl::unexpected(damaged("an impossible length"));
      entry.raw_bytes = value;
    }
  }
  if (in != end) return tl::unexpected(damaged("more columns than this version knows"));
  return entries;
}

}  // namespace dmprof::store
