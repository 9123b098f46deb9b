#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "samples/models/train/corpus.h"
#include "samples/models/train/gguf.h"
#include "samples/models/train/gguf_format.h"
#include "samples/models/train/half.h"

namespace dmprof::train {
namespace {

using gguf::TensorType;
using gguf::Type;

// Takes values off the front of the file; once something does not fit, ok() is false and every further value is zero or
// empty.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  std::size_t position() const { return at_; }

  template <class T>
  T take() {
    T value{};
    const std::string_view raw = take_bytes(sizeof value);
    if (raw.size() == sizeof value) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take_bytes(take<std::uint64_t>()); }

 private:
  std::string_view take_bytes(std::uint64_t size) {
    if (!ok_ || size > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

struct Metadata {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::vector<std::string>, std::less<>> lists;

  int integer(std::string_view key) const {
    const auto it = numbers.find(key);
    return it != numbers.end() && it->second >= 0 && it->second < 1e6 ? static_cast<int>(it->second) : 0;
  }
};

std::optional<double> take_number(Cursor& in, Type type) {
  switch (type) {
    case Type::u32:
      return in.take<std::uint32_t>();
    case Type::i32:
      return in.take<std::int32_t>();
    case Type::f32:
      return in.take<float>();
    case Type::boolean:
      return in.take<std::uint8_t>();
    default:
      return std::nullopt;
  }
}

bool take_entry(Cursor& in, Metadata& metadata) {
  const std::string key(in.text());
  const auto type = in.take<Type>();
  if (type == Type::string) {
    metadata.texts[key] = in.text();
    return in.ok();
  }
  if (type != Type::array) {
    const auto number = take_number(in, type);
    metadata.numbers[key] = number.value_or(0);
    return number.has_value() && in.ok();
  }
  const auto element = in.take<Type>();
  const auto count = in.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    if (element == Type::string) {
      metadata.lists[key].emplace_back(in.text());
    } else if (!take_number(in, element)) {
      return false;
    }
  }
  return in.ok();
}

// The merges as ids: a list of "left right" in the vocabulary's printable form.
std::optional<std::vector<Tokenizer::Pair>> parse_merges(const Metadata& metadata) {
  const auto tokens = metadata.lists.find("tokenizer.ggml.tokens");
  const auto merges = metadata.lists.find("tokenizer.ggml.merges");
  if (tokens == metadata.lists.end() || merges == metadata.lists.end()) return std::nullopt;
  if (tokens->second.size() != 257 + merges->second.size() || tokens->second.size() > 65536) return std::nullopt;
  std::unordered_map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < tokens->second.size(); ++id) ids.emplace(tokens->second[id], id);
  std::vector<Tokenizer::Pair> pairs;
  for (const std::string_view merge : merges->second) {
    const std::size_t blank = merge.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const auto left = ids.find(merge.substr(0, blank));
    const auto right = ids.find(merge.substr(blank + 1));
    const std::size_t known = 257 + pairs.size();
    if (left == ids.end() || right == ids.end() || left->second >= known || right->second >= known) return std::nullopt;
    pairs.emplace_back(static_cast<Token>(left->second), static_cast<Token>(right->second));
  }
  return pairs;
}

std::optional<Shape> parse_shape(const Metadata& metadata) {
  Shape shape;
  shape.dim = metadata.integer("llama.embedding_length");
  shape.layers = metadata.integer("llama.block_count");
  shape.heads = metadata.integer("llama.attention.head_count");
  shape.kv_heads = metadata.integer("llama.attention.head_count_kv");
  shape.ffn = metadata.integer("llama.feed_forward_length");
  shape.vocab = metadata.integer("llama.vocab_size");
  shape.context = metadata.integer("llama.context_length");
  const bool sane = shape.heads > 0 && shape.kv_heads > 0 && shape.dim > 0 && shape.dim <= 8192 &&
                    shape.layers <= 256 && shape.ffn > 0 && shape.ffn <= 65536 && shape.vocab > 0 &&
                    shape.vocab <= 65536 && shape.context > 0;
  if (!sane || shape.dim % shape.heads != 0 || shape.heads % shape.kv_heads != 0) return std::nullopt;
  return shape;
}

void copy_tensor(std::string_view raw, TensorType type, std::size_t size, float* out) {
  if (type == TensorType::f32) {
    std::memcpy(out, raw.data(), size * sizeof(float));
    return;
  }
  for (std::size_t i = 0; i < size; i += gguf::block_values, raw.remove_prefix(gguf::block_bytes)) {
    std::uint16_t half = 0;
    std::memcpy(&half, raw.data(), sizeof half);
    const float scale = from_half(half);
    for (std::size_t j = 0; j < gguf::block_values; ++j)
      out[i + j] = scale * static_cast<float>(static_cast<signed char>(raw[2 + j]));
  }
}

struct StoredTensor {
  std::string name;
  std::uint64_t size = 1;
  TensorType type = TensorType::f32;
  std::uint64_t offset = 0;
};

std::vector<StoredTensor> take_tensors(Cursor& in, std::uint64_t count) {
  std::vector<StoredTensor> tensors;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    StoredTensor& tensor = tensors.emplace_back();
    tensor.name = in.text();
    const auto dimensions = in.take<std::uint32_t>();
    for (std::uint32_t d = 0; d < dimensions && in.ok(); ++d) tensor.size *= in.take<std::uint64_t>();
    tensor.type = in.take<TensorType>();
    tensor.offset = in.take<std::uint64_t>();
  }
  return tensors;
}

}  // namespace

Result<Model> read_gguf(const std::string& path) {
  auto file = read_file(path);
  if (!file) return tl::unexpected(file.error());
  auto foreign = [&](const std::string& why) {
    return fail(ErrorKind::bad_input, path + " " + why + ": give a file that dm-train wrote");
  };
  Cursor in(*file);
  const auto magic = in.take<std::uint32_t>();
  const auto version = in.take<std::uint32_t>();
  if (magic != gguf::magic || version != gguf::version) return foreign("is no GGUF 3 file");
  const auto tensor_count = in.take<std::uint64_t>();
  const auto entries = in.take<std::uint64_t>();
  Metadata metadata;
  for (std::uint64_t i = 0; i < entries; ++i) {
    if (!take_entry(in, metadata)) return foreign("has damaged metadata");
  }
  const auto shape = parse_shape(metadata);
  auto merges = parse_merges(metadata);
  if (!shape || !merges) return foreign("has another architecture or tokenizer");
  const std::vector<StoredTensor> stored = take_tensors(in, tensor_count);
  const Layout layout(*shape);
  if (!in.ok() || stored.size() != layout.tensors.size())
    return foreign("has other tensors than the architecture asks for");
  const std::string_view data = std::string_view(*file).substr(std::min(file->size(), gguf::padded(in.position())));
  Model model{*shape, std::vector<float>(layout.total), std::move(*merges)};
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const TensorSlot& slot = layout.tensors[i];
    const bool known = stored[i].type == TensorType::f32 ||
                       (stored[i].type == TensorType::q8_0 && slot.cols % gguf::block_values == 0);
    if (stored[i].name != slot.name || stored[i].size != slot.size() || !known)
      return foreign("has an unexpected tensor " + stored[i].name);
    const std::size_t bytes = stored[i].type == TensorType::f32 ? slot.size() * sizeof(float)
                                                                : slot.size() / gguf::block_values * gguf::block_bytes;
    if (stored[i].offset > data.size() || bytes > data.size() - stored[i].offset) return foreign("is cut short");
    copy_tensor(data.substr(stored[i].offset, bytes), stored[i].type, slot.size(),
                model.parameters.data() + slot.offset);
  }
  return model;
}

}  // namespace dmprof::train
