// Sequential little-endian reads from a file, each checked against what is left of it.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "dmprof/base/error.h"

namespace dmengine {

static_assert(std::endian::native == std::endian::little, "the engine reads GGUF on little-endian machines only");

class ByteReader {
 public:
  // Opens a regular file. environment when it cannot be opened, bad_input when it is a directory or another non-file.
  static dmprof::Result<ByteReader> open(const std::string& path);
  ByteReader(ByteReader&& other) noexcept;
  ByteReader& operator=(ByteReader&&) = delete;
  ~ByteReader();

  uint64_t size() const { return size_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return size_ - position_; }

  // `what` names the thing for the message when the file ends too early.
  dmprof::Status read(void* destination, uint64_t bytes, const char* what);
  dmprof::Status skip(uint64_t bytes, const char* what);

  template <class T>
  dmprof::Result<T> scalar(const char* what) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (auto status = read(&value, sizeof(T), what); !status) return tl::unexpected(status.error());
    return value;
  }

 private:
  ByteReader(int descriptor, std::string path, uint64_t size);
  dmprof::Status fill();

  int descriptor_;
  std::string path_;
  uint64_t size_;
  uint64_t position_ = 0;
  std::vector<unsigned char> buffer_;
  uint64_t buffer_start_ = 0;
  uint64_t buffer_used_ = 0;
};

}  // namespace dmengine
