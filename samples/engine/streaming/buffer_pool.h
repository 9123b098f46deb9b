// Page-aligned buffers that never take more memory than the limit. Blocks of a model have few sizes, so a buffer that
// becomes free is kept for the next block of its size: a fresh one would cost a page fault for each of its pages. Not
// thread-safe; the owner locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

namespace dmengine {

struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};

struct Buffer {
  std::unique_ptr<std::byte, FreeBytes> bytes;
  std::uint64_t size = 0;
};

class BufferPool {
 public:
  explicit BufferPool(std::uint64_t limit) : limit_(limit) {}

  // A buffer of exactly `size` (a multiple of kBufferAlignment); its bytes are null where the buffers in use would pass
  // the limit or memory is exhausted.
  Buffer take(std::uint64_t size);
  void give_back(Buffer buffer);
  void set_limit(std::uint64_t limit);

  std::uint64_t in_use() const { return in_use_; }
  std::uint64_t kept() const { return kept_; }  // free but not returned to the system

 private:
  void shrink_to(std::uint64_t kept);

  std::uint64_t limit_;
  std::uint64_t in_use_ = 0;
  std::uint64_t kept_ = 0;
  std::map<std::uint64_t, std::vector<Buffer>> free_;
};

}  // namespace dmengine
