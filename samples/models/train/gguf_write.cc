#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "samples/models/train/gguf.h"
#include "samples/models/train/gguf_format.h"
#include "samples/models/train/half.h"

namespace dmprof::train {
namespace {

using gguf::TensorType;
using gguf::Type;

class Buffer {
 public:
  template <class T>
  void put(T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof value);
  }
  void text(std::string_view value) {
    put<std::uint64_t>(value.size());
    bytes_ += value;
  }
  void pad() { bytes_.resize(gguf::padded(bytes_.size()), '\0'); }
  void append(std::string_view raw) { bytes_ += raw; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Metadata {
 public:
  void add(std::string_view key, std::uint32_t value) { head(key, Type::u32).put(value); }
  void add(std::string_view key, float value) { head(key, Type::f32).put(value); }
  void add(std::string_view key, bool value) { head(key, Type::boolean).put<std::uint8_t>(value ? 1 : 0); }
  void add(std::string_view key, std::string_view value) { head(key, Type::string).text(value); }
  void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
  void add(std::string_view key, const std::vector<std::string>& values) {
    array(key, Type::string, values.size());
    for (const std::string& value : values) buffer_.text(value);
  }
  void add(std::string_view key, const std::vector<std::int32_t>& values) {
    array(key, Type::i32, values.size());
    for (const std::int32_t value : values) buffer_.put(value);
  }
  std::uint64_t count() const { return count_; }
  const std::string& bytes() const { return buffer_.bytes(); }

 private:
  Buffer& head(std::string_view key, Type type) {
    ++count_;
    buffer_.text(key);
    buffer_.put(static_cast<std::uint32_t>(type));
    return buffer_;
  }
  void array(std::string_view key, Type type, std::size_t size) {
    head(key, Type::array).put(static_cast<std::uint32_t>(type));
    buffer_.put<std::uint64_t>(size);
  }
  Buffer buffer_;
  std::uint64_t count_ = 0;
};

void add_tokenizer(const Tokenizer& tokenizer, Metadata& metadata) {
  std::vector<std::string> tokens = {"<|endoftext|>"};
  std::vector<std::int32_t> kinds = {3};  // 3 is a control token, 1 a normal one
  for (int id = 1; id < tokenizer.vocab(); ++id) {
    tokens.push_back(printable(tokenizer.bytes(static_cast<Token>(id))));
    kinds.push_back(1);
  }
  std::vector<std::string> merges;
  for (const auto& [left, right] : tokenizer.merges()) {
    merges.push_back(printable(tokenizer.bytes(left)) + " " + printable(tokenizer.bytes(right)));
  }
  metadata.add("tokenizer.ggml.model", "gpt2");
  metadata.add("tokenizer.ggml.pre", "gpt-2");
  metadata.add("tokenizer.ggml.tokens", tokens);
  metadata.add("tokenizer.ggml.token_type", kinds);
  metadata.add("tokenizer.ggml.merges", merges);
  metadata.add("tokenizer.ggml.bos_token_id", std::uint32_t{Tokenizer::boundary});
  metadata.add("tokenizer.ggml.eos_token_id", std::uint32_t{Tokenizer::boundary});
  metadata.add("tokenizer.ggml.add_bos_token", true);
}

Metadata describe(const Model& model, const ModelInfo& info, MatrixType type) {
  const Shape& shape = model.shape;
  Metadata metadata;
  auto number = [&](const char* key, int value) { metadata.add(key, static_cast<std::uint32_t>(value)); };
  metadata.add("general.architecture", "llama");
  metadata.add("general.name", info.name);
  metadata.add("general.description", info.description);
  metadata.add("general.license", info.license);
  number("general.file_type", type == MatrixType::q8_0 ? 7 : 0);
  number("general.quantization_version", 2);
  number("llama.context_length", shape.context);
  number("llama.embedding_length", shape.dim);
  number("llama.block_count", shape.layers);
  number("llama.feed_forward_length", shape.ffn);
  number("llama.attention.head_count", shape.heads);
  number("llama.attention.head_count_kv", shape.kv_heads);
  number("llama.rope.dimension_count", shape.head_dim());
  number("llama.vocab_size", shape.vocab);
  metadata.add("llama.rope.freq_base", shape.rope_base);
  metadata.add("llama.attention.layer_norm_rms_epsilon", shape.norm_eps);
  add_tokenizer(Tokenizer(model.merges), metadata);
  return metadata;
}

void put_q8_0(const float* values, std::size_t size, Buffer& out) {
  for (std::size_t first = 0; first < size; first += gguf::block_values) {
    float largest = 0;
    for (int i = 0; i < gguf::block_values; ++i)
      largest = std::max(largest, std::fabs(values[first + static_cast<std::size_t>(i)]));
    const float scale = largest / 127.0f;
    out.put(to_half(scale));
    for (int i = 0; i < gguf::block_values; ++i) {
      const float value = values[first + static_cast<std::size_t>(i)];
      out.put(static_cast<std::int8_t>(scale > 0 ? std::lround(value / scale) : 0));
    }
  }
}

}  // namespace

Status write_gguf(const std::string& path, const Model& model, const ModelInfo& info, MatrixType type) {
  const Layout layout(model.shape);
  const bool quantised = type == MatrixType::q8_0;
  if (quantised && (model.shape.dim % gguf::block_values != 0 || model.shape.ffn % gguf::block_values != 0)) {
    return fail(ErrorKind::usage, "Q8_0 needs model dimensions that are multiples of 32: write F32 instead");
  }
  const Metadata metadata = describe(model, info, type);
  Buffer header;
  header.put(gguf::magic);
  header.put(gguf::version);
  header.put<std::uint64_t>(layout.tensors.size());
  header.put<std::uint64_t>(metadata.count());
  header.append(metadata.bytes());
  Buffer data;
  for (const TensorSlot& slot : layout.tensors) {
    const bool blocks = quantised && !slot.is_norm();
    header.text(slot.name);
    header.put<std::uint32_t>(slot.is_norm() ? 1 : 2);
    header.put<std::uint64_t>(static_cast<std::uint64_t>(slot.cols));
    if (!slot.is_norm()) header.put<std::uint64_t>(static_cast<std::uint64_t>(slot.rows));
    header.put(static_cast<std::uint32_t>(blocks ? TensorType::q8_0 : TensorType::f32));
    header.put<std::uint64_t>(data.bytes().size());
    const float* values = model.parameters.data() + slot.offset;
    if (blocks) {
      put_q8_0(values, slot.size(), data);
    } else {
      data.append(std::string_view(reinterpret_cast<const char*>(values), slot.size() * sizeof(float)));
    }
    data.pad();
  }
  header.pad();
  const std::string part = path + ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  out << header.bytes() << data.bytes();
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(part, path, error);
  if (!out || error)
    return fail(ErrorKind::environment, "cannot write " + path + ": check that its folder exists and has space");
  return {};
}

}  // namespace dmprof::train
