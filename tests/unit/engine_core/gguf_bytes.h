// Builds GGUF files by hand, so that tests can also build wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dmengine {

class GgufBytes {
 public:
  explicit GgufBytes(uint64_t tensors = 0, uint64_t keys = 0, uint32_t version = 3) {
    bytes_ = "GGUF";
    number<uint32_t>(version);
    number<uint64_t>(tensors);
    number<uint64_t>(keys);
  }

  template <class T>
  GgufBytes& number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  GgufBytes& string(std::string_view text) {
    number<uint64_t>(text.size());
    bytes_ += text;
    return *this;
  }
  GgufBytes& key(std::string_view name, uint32_t type) { return string(name).number<uint32_t>(type); }
  GgufBytes& tensor(std::string_view name, std::initializer_list<uint64_t> dims, uint32_t type, uint64_t offset) {
    string(name).number<uint32_t>(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) number(dim);
    return number<uint32_t>(type).number<uint64_t>(offset);
  }
  GgufBytes& pad(size_t bytes) {
    bytes_.append(bytes, '\0');
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

enum : uint32_t { u8 = 0, u32 = 4, i32 = 5, f32 = 6, boolean = 7, text = 8, array = 9, u64 = 10 };

}  // namespace dmengine
