#include "samples/engine/gguf/gguf.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace dmengine {

std::string_view to_string(TensorType type) {
  switch (type) {
    case TensorType::f32:
      return "F32";
    case TensorType::f16:
      return "F16";
    case TensorType::q8_0:
      return "Q8_0";
  }
  return "?";
}

uint64_t row_bytes(TensorType type, uint64_t columns) {
  if (columns > std::numeric_limits<uint64_t>::max() / 8) return 0;
  switch (type) {
    case TensorType::f32:
      return columns * 4;
    case TensorType::f16:
      return columns * 2;
    case TensorType::q8_0:
      return columns % 32 == 0 ? columns / 32 * 34 : 0;
  }
  return 0;
}

const TensorInfo* GgufFile::find_tensor(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &tensors_[it->second];
}

const MetaValue* GgufFile::find(std::string_view key) const {
  const auto it = metadata_.find(key);
  return it == metadata_.end() ? nullptr : &it->second;
}

namespace {

tl::unexpected<Error> missing(const GgufFile& file, std::string_view key) {
  return fail(ErrorKind::bad_input,
              fmt::format("model '{}' lacks the metadata key '{}'; convert the model again", file.path(), key));
}

tl::unexpected<Error> wrong_type(const GgufFile& file, std::string_view key, const char* wanted) {
  return fail(ErrorKind::bad_input, fmt::format("model '{}': the metadata key '{}' is not {}; convert the model again",
                                                file.path(), key, wanted));
}

template <class T>
Result<const std::vector<T>*> array_of(const GgufFile& file, std::string_view key, const char* wanted) {
  const MetaValue* value = file.find(key);
  if (value == nullptr) return nullptr;
  const auto* array = std::get_if<MetaArray>(value);
  const auto* items = array == nullptr ? nullptr : std::get_if<std::vector<T>>(array);
  if (items == nullptr) return wrong_type(file, key, wanted);
  return items;
}

}  // namespace

Result<uint64_t> GgufFile::unsigned_value(std::string_view key) const {
  const MetaValue* value = find(key);
  if (value == nullptr) return missing(*this, key);
  if (const auto* number = std::get_if<uint64_t>(value)) return *number;
  if (const auto* number = std::get_if<int64_t>(value); number != nullptr && *number >= 0) {
    return static_cast<uint64_t>(*number);
  }
  return wrong_type(*this, key, "a whole number >= 0");
}

Result<uint64_t> GgufFile::unsigned_value(std::string_view key, uint64_t fallback) const {
  return find(key) == nullptr ? Result<uint64_t>(fallback) : unsigned_value(key);
}

Result<double> GgufFile::real_value(std::string_view key, double fallback) const {
  const MetaValue* value = find(key);
  if (value == nullptr) return fallback;
  if (const auto* number = std::get_if<double>(value)) return *number;
  return wrong_type(*this, key, "a real number");
}

Result<bool> GgufFile::bool_value(std::string_view key, bool fallback) const {
  const MetaValue* value = find(key);
  if (value == nullptr) return fallback;
  if (const auto* flag = std::get_if<bool>(value)) return *flag;
  return wrong_type(*this, key, "true or false");
}

Result<std::string> GgufFile::string_value(std::string_view key) const {
  const MetaValue* value = find(key);
  if (value == nullptr) return missing(*this, key);
  if (const auto* text = std::get_if<std::string>(value)) return *text;
  return wrong_type(*this, key, "a string");
}

Result<std::string> GgufFile::string_value(std::string_view key, std::string fallback) const {
  return find(key) == nullptr ? Result<std::string>(std::move(fallback)) : string_value(key);
}

Result<const std::vector<std::string>*> GgufFile::string_array(std::string_view key) const {
  return array_of<std::string>(*this, key, "an array of strings");
}
Result<const std::vector<double>*> GgufFile::real_array(std::string_view key) const {
  return array_of<double>(*this, key, "an array of real numbers");
}
Result<const std::vector<int64_t>*> GgufFile::int_array(std::string_view key) const {
  return array_of<int64_t>(*this, key, "an array of whole numbers");
}

}  // namespace dmengine
