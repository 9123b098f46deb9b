// Anonymous zeroed memory, given back on destruction. Pages are taken when first touched; huge pages are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "dmprof/base/error.h"

namespace dmengine {

class MappedMemory {
 public:
  // environment when the address space or the memory cannot be had; `purpose` is named in the message.
  static dmprof::Result<MappedMemory> allocate(uint64_t bytes, const char* purpose);

  MappedMemory() = default;
  MappedMemory(MappedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedMemory();

  std::byte* data() const { return data_; }
  uint64_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace dmengine
