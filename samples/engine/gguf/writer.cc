#include "samples/engine/gguf/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dmengine {

namespace {

constexpr uint64_t alignment = 32;
constexpr uint32_t type_u32 = 4, type_i32 = 5, type_f32 = 6, type_bool = 7, type_string = 8, type_array = 9;

uint64_t padded(uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void append_string(std::string& out, std::string_view text) {
  append(out, static_cast<uint64_t>(text.size()));
  out.append(text);
}

}  // namespace

GgufWriter::GgufWriter(std::string path) : path_(std::move(path)) {}

GgufWriter::~GgufWriter() = default;

void GgufWriter::key_of(std::string_view key, uint32_t type) {
  append_string(metadata_, key);
  append(metadata_, type);
  ++metadata_count_;
}

void GgufWriter::add(std::string_view key, uint32_t value) {
  key_of(key, type_u32);
  append(metadata_, value);
}
void GgufWriter::add(std::string_view key, float value) {
  key_of(key, type_f32);
  append(metadata_, value);
}
void GgufWriter::add(std::string_view key, bool value) {
  key_of(key, type_bool);
  append(metadata_, static_cast<uint8_t>(value ? 1 : 0));
}
void GgufWriter::add(std::string_view key, std::string_view value) {
  key_of(key, type_string);
  append_string(metadata_, value);
}
void GgufWriter::add(std::string_view key, std::span<const std::string> values) {
  key_of(key, type_array);
  append(metadata_, type_string);
  append(metadata_, static_cast<uint64_t>(values.size()));
  for (const std::string& value : values) append_string(metadata_, value);
}
void GgufWriter::add(std::string_view key, std::span<const float> values) {
  key_of(key, type_array);
  append(metadata_, type_f32);
  append(metadata_, static_cast<uint64_t>(values.size()));
  for (const float value : values) append(metadata_, value);
}
void GgufWriter::add(std::string_view key, std::span<const int32_t> values) {
  key_of(key, type_array);
  append(metadata_, type_i32);
  append(metadata_, static_cast<uint64_t>(values.size()));
  for (const int32_t value : values) append(metadata_, value);
}

void GgufWriter::declare(std::string_view name, TensorType type, std::span<const uint64_t> dims) {
  append_string(table_, name);
  append(table_, static_cast<uint32_t>(dims.size()));
  uint64_t rows = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    append(table_, dims[d]);
    if (d > 0) rows *= dims[d];
  }
  append(table_, static_cast<uint32_t>(type));
  append(table_, offset_);
  sizes_.push_back(row_bytes(type, dims[0]) * rows);
  offset_ += padded(sizes_.back());
}

Status GgufWriter::begin() {
  auto output = dmprof::Output::open(path_);
  if (!output) return tl::unexpected(output.error());
  DMPROF_TRY((*output)->claim(
      "a GGUF model", [](std::string_view start) { return start.starts_with("GGUF"); }, "remove it"));
  output_ = std::move(*output);
  std::string head = "GGUF";
  append(head, uint32_t{3});
  append(head, static_cast<uint64_t>(sizes_.size()));
  append(head, metadata_count_);
  head += metadata_;
  head += table_;
  head.resize(padded(head.size()), '\0');
  output_->write(head);
  return {};
}

Status GgufWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (current_ >= sizes_.size())
      return fail(ErrorKind::usage, fmt::format("more tensor data than declared for '{}'", path_));
    const auto part = static_cast<size_t>(std::min<uint64_t>(bytes.size(), sizes_[current_] - written_));
    output_->write({reinterpret_cast<const char*>(bytes.data()), part});
    if (output_->failed()) return output_->close();  // says why
    bytes = bytes.subspan(part);
    written_ += part;
    if (written_ < sizes_[current_]) continue;
    const char zeros[alignment] = {};
    output_->write({zeros, static_cast<size_t>(padded(written_) - written_)});
    ++current_;
    written_ = 0;
  }
  return {};
}

Status GgufWriter::finish() {
  if (current_ != sizes_.size())
    return fail(ErrorKind::usage, fmt::format("less tensor data than declared for '{}'", path_));
  return output_->close();
}

}  // namespace dmengine
