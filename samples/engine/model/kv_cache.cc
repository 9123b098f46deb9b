#include "samples/engine/model/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace dmengine {

Result<KvCache> KvCache::create(const ModelConfig& config, uint32_t slots, uint32_t capacity, KvType type) {
  constexpr uint32_t max_slots = 1 << 16, max_capacity = 1 << 24;
  if (slots == 0 || capacity == 0 || slots > max_slots || capacity > max_capacity) {
    return fail(ErrorKind::usage,
                fmt::format("a KV cache of {} slots of {} positions is not possible; both must be at least 1, "
                            "at most {} and {}",
                            slots, capacity, max_slots, max_capacity));
  }
  KvCache cache;
  cache.layers_ = config.layers;
  cache.kv_heads_ = config.kv_heads;
  cache.head_dim_ = config.head_dim;
  cache.capacity_ = capacity;
  cache.type_ = type;
  cache.element_bytes_ = type == KvType::f16 ? 2 : 4;
  cache.lengths_.assign(slots, 0);
  // Sizes are bounded by read_config and the limits above, so only the product can be too much: compare as real
  // numbers.
  const double wanted = static_cast<double>(cache.bytes_per_position()) * slots * capacity / 2;
  if (wanted > 1e15) {
    return fail(
        ErrorKind::environment,
        fmt::format("a KV cache of {:.3g} bytes is not possible; use fewer slots or a shorter context", wanted * 2));
  }
  const uint64_t half = cache.bytes_per_position() / 2 * slots * capacity;
  auto keys = MappedMemory::allocate(half, "the KV cache");
  if (!keys) return tl::unexpected(keys.error());
  auto values = MappedMemory::allocate(half, "the KV cache");
  if (!values) return tl::unexpected(values.error());
  cache.keys_ = std::move(*keys);
  cache.values_ = std::move(*values);
  return cache;
}

void KvCache::truncate(uint32_t slot, uint32_t length) { lengths_[slot] = std::min(lengths_[slot], length); }

void KvCache::copy_prefix(uint32_t from, uint32_t to, uint32_t length) {
  const uint32_t kept = std::min(length, lengths_[from]);
  lengths_[to] = kept;
  if (from == to) return;
  const uint64_t bytes = uint64_t{kept} * head_dim_ * element_bytes_;
  for (uint32_t layer = 0; layer < layers_; ++layer) {
    for (uint32_t head = 0; head < kv_heads_; ++head) {
      std::memcpy(keys(layer, to, head), keys(layer, from, head), bytes);
      std::memcpy(values(layer, to, head), values(layer, from, head), bytes);
    }
  }
}

uint64_t KvCache::bytes() const { return keys_.size() + values_.size(); }

uint64_t KvCache::bytes_per_position() const { return uint64_t{2} * layers_ * kv_heads_ * head_dim_ * element_bytes_; }

uint64_t KvCache::offset(uint32_t layer, uint32_t slot, uint32_t kv_head) const {
  return ((uint64_t{layer} * slots() + slot) * kv_heads_ + kv_head) * capacity_ * head_dim_ * element_bytes_;
}

std::byte* KvCache::keys(uint32_t layer, uint32_t slot, uint32_t kv_head) const {
  return keys_.data() + offset(layer, slot, kv_head);
}

std::byte* KvCache::values(uint32_t layer, uint32_t slot, uint32_t kv_head) const {
  return values_.data() + offset(layer, slot, kv_head);
}

}  // namespace dmengine
