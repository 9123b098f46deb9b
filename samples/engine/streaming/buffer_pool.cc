#include "samples/engine/streaming/buffer_pool.h"

#include <algorithm>
#include <utility>

#include "samples/engine/streaming/backing.h"

namespace dmengine {

Buffer BufferPool::take(std::uint64_t size) {
  Buffer buffer;
  if (in_use_ > limit_ || size > limit_ - in_use_) return buffer;
  const auto found = free_.find(size);
  if (found != free_.end()) {
    buffer = std::move(found->second.back());
    found->second.pop_back();
    if (found->second.empty()) free_.erase(found);
    kept_ -= size;
  } else {
    shrink_to(limit_ - in_use_ - size);
    buffer = {
        std::unique_ptr<std::byte, FreeBytes>(static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, size))),
        size};
  }
  if (buffer.bytes) in_use_ += size;
  return buffer;
}

void BufferPool::give_back(Buffer buffer) {
  if (!buffer.bytes) return;
  in_use_ -= buffer.size;
  kept_ += buffer.size;
  const std::uint64_t size = buffer.size;
  free_[size].push_back(std::move(buffer));
  shrink_to(limit_ - std::min(limit_, in_use_));
}

void BufferPool::set_limit(std::uint64_t limit) {
  limit_ = limit;
  shrink_to(limit_ - std::min(limit_, in_use_));
}

void BufferPool::shrink_to(std::uint64_t kept) {
  while (kept_ > kept) {
    const auto largest = std::prev(free_.end());
    kept_ -= largest->first;
    largest->second.pop_back();
    if (largest->second.empty()) free_.erase(largest);
  }
}

}  // namespace dmengine
