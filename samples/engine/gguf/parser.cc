#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "samples/engine/gguf/byte_reader.h"
#include "samples/engine/gguf/gguf.h"

namespace dmengine {

namespace {

// Value types of the file format.
enum class ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64, count };

constexpr uint64_t value_bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};  // the least a value takes

// Far above any real model, far below what would exhaust memory.
constexpr uint64_t max_metadata = 1 << 16;
constexpr uint64_t max_tensors = 1 << 16;
constexpr uint64_t max_array = 1 << 24;
constexpr uint64_t max_name = 1 << 16;
constexpr uint64_t max_metadata_bytes = 512ULL << 20;
constexpr int max_nesting = 4;
constexpr uint64_t max_alignment = 1 << 16;

// Names come from the file: they go into messages shortened and without control characters.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += (c >= ' ' && c < 127) ? c : '?';
  if (text.size() > 60) out += "...";
  return out;
}

}  // namespace

class GgufParser {
 public:
  GgufParser(ByteReader reader, const std::string& path) : reader_(std::move(reader)) {
    file_.path_ = path;
    file_.file_bytes_ = reader_.size();
  }

  Result<GgufFile> parse();

 private:
  tl::unexpected<Error> damaged(const std::string& detail) const {
    return fail(ErrorKind::bad_input,
                fmt::format("model '{}': {} (near byte {}); the file is damaged or not for this engine, "
                            "convert or copy it again",
                            file_.path_, detail, reader_.position()));
  }

  template <class Out, class In>
  Result<Out> number(const char* what) {
    auto value = reader_.scalar<In>(what);
    if (!value) return tl::unexpected(value.error());
    return static_cast<Out>(*value);
  }
  Result<std::string> string(const char* what, uint64_t limit);
  Result<int64_t> integer(ValueType type);
  Result<double> real(ValueType type);
  Result<bool> boolean();
  Result<MetaValue> value(ValueType type, const std::string& key);
  Result<MetaArray> array(const std::string& key, int depth);
  template <class T, class Read>
  Result<MetaArray> elements(uint64_t count, Read read);
  Status skip_nested(uint64_t count, const std::string& key, int depth);
  Status metadata(uint64_t count);
  Status tensor_table(uint64_t count);
  Result<TensorInfo> tensor();
  Status place_tensors();

  ByteReader reader_;
  GgufFile file_;
  uint64_t alignment_ = 32;
};

Result<std::string> GgufParser::string(const char* what, uint64_t limit) {
  auto length = reader_.scalar<uint64_t>(what);
  if (!length) return tl::unexpected(length.error());
  if (*length > limit || *length > reader_.remaining()) {
    return damaged(fmt::format("{} claims {} bytes, {} are left", what, *length, reader_.remaining()));
  }
  std::string text(*length, '\0');
  if (auto status = reader_.read(text.data(), text.size(), what); !status) return tl::unexpected(status.error());
  return text;
}

Result<int64_t> GgufParser::integer(ValueType type) {
  constexpr const char* what = "a whole number";
  switch (type) {
    case ValueType::u8:
      return number<int64_t, uint8_t>(what);
    case ValueType::i8:
      return number<int64_t, int8_t>(what);
    case ValueType::u16:
      return number<int64_t, uint16_t>(what);
    case ValueType::i16:
      return number<int64_t, int16_t>(what);
    case ValueType::u32:
      return number<int64_t, uint32_t>(what);
    case ValueType::i32:
      return number<int64_t, int32_t>(what);
    default:
      break;
  }
  auto raw = reader_.scalar<uint64_t>(what);
  if (!raw) return tl::unexpected(raw.error());
  if (type == ValueType::u64 && *raw > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return damaged(fmt::format("the number {} is out of range", *raw));
  }
  return std::bit_cast<int64_t>(*raw);
}

Result<double> GgufParser::real(ValueType type) {
  return type == ValueType::f32 ? number<double, float>("a real number") : number<double, double>("a real number");
}

Result<bool> GgufParser::boolean() {
  auto raw = reader_.scalar<uint8_t>("a truth value");
  if (!raw) return tl::unexpected(raw.error());
  if (*raw > 1) return damaged(fmt::format("a truth value is {}", *raw));
  return *raw == 1;
}

template <class T, class Read>
Result<MetaArray> GgufParser::elements(uint64_t count, Read read) {
  std::vector<T> items;
  items.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Result<T> item = read();
    if (!item) return tl::unexpected(item.error());
    items.push_back(std::move(*item));
  }
  return MetaArray(std::move(items));
}

Status GgufParser::skip_nested(uint64_t count, const std::string& key, int depth) {
  for (uint64_t i = 0; i < count; ++i) {
    if (auto inner = array(key, depth + 1); !inner) return tl::unexpected(inner.error());
  }
  return {};
}

Result<MetaArray> GgufParser::array(const std::string& key, int depth) {
  auto type_code = reader_.scalar<uint32_t>("an array's type");
  if (!type_code) return tl::unexpected(type_code.error());
  auto count = reader_.scalar<uint64_t>("an array's length");
  if (!count) return tl::unexpected(count.error());
  if (*type_code >= static_cast<uint32_t>(ValueType::count)) {
    return damaged(fmt::format("the array '{}' has the unknown type {}", printable(key), *type_code));
  }
  const auto type = static_cast<ValueType>(*type_code);
  if (*count > max_array || *count > reader_.remaining() / value_bytes[*type_code]) {
    return damaged(fmt::format("the array '{}' claims {} values, more than the file can hold", printable(key), *count));
  }
  switch (type) {
    case ValueType::string:
      return elements<std::string>(*count, [&] { return string("a string of an array", max_metadata_bytes); });
    case ValueType::boolean:
      return elements<bool>(*count, [&] { return boolean(); });
    case ValueType::f32:
    case ValueType::f64:
      return elements<double>(*count, [&] { return real(type); });
    case ValueType::array: {
      if (depth >= max_nesting) return damaged(fmt::format("the array '{}' is nested too deep", printable(key)));
      if (auto status = skip_nested(*count, key, depth); !status) return tl::unexpected(status.error());
      return MetaArray{};
    }
    default:
      return elements<int64_t>(*count, [&] { return integer(type); });
  }
}

Result<MetaValue> GgufParser::value(ValueType type, const std::string& key) {
  const auto wrap = [](auto result) -> Result<MetaValue> {
    if (!result) return tl::unexpected(result.error());
    return MetaValue(std::move(*result));
  };
  switch (type) {
    case ValueType::string:
      return wrap(string("a string", max_metadata_bytes));
    case ValueType::array:
      return wrap(array(key, 0));
    case ValueType::boolean:
      return wrap(boolean());
    case ValueType::f32:
    case ValueType::f64:
      return wrap(real(type));
    case ValueType::u64:
      return wrap(number<uint64_t, uint64_t>("a whole number"));
    default:
      return wrap(integer(type));
  }
}

Status GgufParser::metadata(uint64_t count) {
  const uint64_t start = reader_.position();
  for (uint64_t i = 0; i < count; ++i) {
    auto key = string("a metadata key", max_name);
    if (!key) return tl::unexpected(key.error());
    auto type = reader_.scalar<uint32_t>("a metadata type");
    if (!type) return tl::unexpected(type.error());
    if (*type >= static_cast<uint32_t>(ValueType::count)) {
      return damaged(fmt::format("the metadata key '{}' has the unknown type {}", printable(*key), *type));
    }
    auto item = value(static_cast<ValueType>(*type), *key);
    if (!item) return tl::unexpected(item.error());
    if (reader_.position() - start > max_metadata_bytes) return damaged("the metadata is larger than 512 MiB");
    if (!file_.metadata_.emplace(*key, std::move(*item)).second) {
      return damaged(fmt::format("the metadata key '{}' appears twice", printable(*key)));
    }
  }
  return {};
}

Result<TensorInfo> GgufParser::tensor() {
  TensorInfo info;
  auto name = string("a tensor's name", max_name);
  if (!name) return tl::unexpected(name.error());
  info.name = std::move(*name);
  const std::string shown = printable(info.name);
  auto dimensions = reader_.scalar<uint32_t>("a tensor's shape");
  if (!dimensions) return tl::unexpected(dimensions.error());
  if (*dimensions < 1 || *dimensions > 4)
    return damaged(fmt::format("tensor '{}' has {} dimensions", shown, *dimensions));
  uint64_t total = 1;
  for (uint32_t d = 0; d < *dimensions; ++d) {
    auto size = reader_.scalar<uint64_t>("a tensor's shape");
    if (!size) return tl::unexpected(size.error());
    // Quarter of the range: bytes are at most four times the elements, and must not overflow either.
    if (*size == 0 || *size > std::numeric_limits<uint64_t>::max() / 8 / total) {
      return damaged(fmt::format("tensor '{}' has an impossible shape (dimension {} is {})", shown, d, *size));
    }
    total *= *size;
    if (d == 0) info.columns = *size;
  }
  info.rows = total / info.columns;
  auto type = reader_.scalar<uint32_t>("a tensor's type");
  if (!type) return tl::unexpected(type.error());
  if (*type != 0 && *type != 1 && *type != 8) {
    return fail(
        ErrorKind::bad_input,
        fmt::format("model '{}': tensor '{}' is stored as type {}, this engine reads F32 (0), F16 (1) and Q8_0 (8); "
                    "convert the model to one of these",
                    file_.path_, shown, *type));
  }
  info.type = static_cast<TensorType>(*type);
  const uint64_t row = row_bytes(info.type, info.columns);
  if (row == 0) return damaged(fmt::format("tensor '{}' is Q8_0 but its rows are not a multiple of 32 long", shown));
  info.bytes = row * info.rows;
  auto offset = reader_.scalar<uint64_t>("a tensor's offset");
  if (!offset) return tl::unexpected(offset.error());
  info.file_offset = *offset;  // still relative to the data section
  return info;
}

Status GgufParser::tensor_table(uint64_t count) {
  file_.tensors_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    auto info = tensor();
    if (!info) return tl::unexpected(info.error());
    if (!file_.by_name_.emplace(info->name, file_.tensors_.size()).second) {
      return damaged(fmt::format("tensor '{}' appears twice", printable(info->name)));
    }
    file_.tensors_.push_back(std::move(*info));
  }
  return {};
}

Status GgufParser::place_tensors() {
  const uint64_t size = file_.file_bytes_;
  const uint64_t start = (reader_.position() + alignment_ - 1) / alignment_ * alignment_;
  for (TensorInfo& info : file_.tensors_) {
    const std::string shown = printable(info.name);
    if (info.file_offset % alignment_ != 0) {
      return damaged(fmt::format("tensor '{}' starts at {}, not a multiple of the alignment {}", shown,
                                 info.file_offset, alignment_));
    }
    if (start > size || info.file_offset > size - start || info.bytes > size - start - info.file_offset) {
      return fail(
          ErrorKind::bad_input,
          fmt::format("model '{}': tensor '{}' ({} bytes) lies outside the file of {} bytes; the file is cut short, "
                      "copy it again",
                      file_.path_, shown, info.bytes, size));
    }
    info.file_offset += start;
  }
  return {};
}

Result<GgufFile> GgufParser::parse() {
  if (file_.file_bytes_ == 0) {
    return fail(ErrorKind::bad_input, fmt::format("model '{}' is empty; name a GGUF file", file_.path_));
  }
  char magic[4] = {};
  if (reader_.remaining() < 4 || !reader_.read(magic, 4, "the magic") || std::string_view(magic, 4) != "GGUF") {
    return fail(
        ErrorKind::bad_input,
        fmt::format("model '{}' is not a GGUF file (it does not start with 'GGUF'); name a GGUF file", file_.path_));
  }
  auto version = reader_.scalar<uint32_t>("the version");
  if (!version) return tl::unexpected(version.error());
  if (*version != 2 && *version != 3) {
    return fail(ErrorKind::bad_input,
                fmt::format("model '{}' is GGUF version {}, this engine reads 2 and 3 (little endian); "
                            "convert it again",
                            file_.path_, *version));
  }
  auto tensor_count = reader_.scalar<uint64_t>("the tensor count");
  if (!tensor_count) return tl::unexpected(tensor_count.error());
  auto metadata_count = reader_.scalar<uint64_t>("the metadata count");
  if (!metadata_count) return tl::unexpected(metadata_count.error());
  if (*tensor_count > max_tensors) return damaged(fmt::format("it claims {} tensors", *tensor_count));
  if (*metadata_count > max_metadata) return damaged(fmt::format("it claims {} metadata keys", *metadata_count));
  if (auto status = metadata(*metadata_count); !status) return tl::unexpected(status.error());
  auto alignment = file_.unsigned_value("general.alignment", 32);
  if (!alignment) return tl::unexpected(alignment.error());
  if (*alignment == 0 || *alignment > max_alignment || !std::has_single_bit(*alignment)) {
    return damaged(fmt::format("general.alignment is {}, not a power of two up to {}", *alignment, max_alignment));
  }
  alignment_ = *alignment;
  if (auto status = tensor_table(*tensor_count); !status) return tl::unexpected(status.error());
  if (auto status = place_tensors(); !status) return tl::unexpected(status.error());
  return std::move(file_);
}

Result<GgufFile> GgufFile::open(const std::string& path) {
  auto reader = ByteReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  return GgufParser(std::move(*reader), path).parse();
}

}  // namespace dmengine
