// Keys and values of past positions, one slot a sequence. Not thread-safe: owned by the thread that calls forward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "samples/engine/model/config.h"
#include "samples/engine/model/mapped_memory.h"

namespace dmengine {

enum class KvType { f16, f32 };

class KvCache {
 public:
  // environment when the memory cannot be had; usage for zero (or absurdly many) slots or positions.
  static Result<KvCache> create(const ModelConfig& config, uint32_t slots, uint32_t capacity,
                                KvType type = KvType::f16);

  uint32_t slots() const { return static_cast<uint32_t>(lengths_.size()); }
  uint32_t capacity() const { return capacity_; }  // positions a slot can hold
  KvType type() const { return type_; }

  uint32_t length(uint32_t slot) const { return lengths_[slot]; }
  // Forgets every position at or after `length` (rejected drafts; 0 frees the slot). Longer than it is: no effect.
  void truncate(uint32_t slot, uint32_t length);
  // Copies the first `length` positions of one slot to another, whose own content is forgotten (shared prompts).
  void copy_prefix(uint32_t from, uint32_t to, uint32_t length);

  uint64_t bytes() const;               // allocated
  uint64_t bytes_per_position() const;  // keys and values, all layers

  // For the forward pass. Rows of one head are contiguous over positions: [layer][slot][kv head][position][head_dim].
  std::byte* keys(uint32_t layer, uint32_t slot, uint32_t kv_head) const;
  std::byte* values(uint32_t layer, uint32_t slot, uint32_t kv_head) const;
  void set_length(uint32_t slot, uint32_t length) { lengths_[slot] = length; }

 private:
  uint64_t offset(uint32_t layer, uint32_t slot, uint32_t kv_head) const;

  uint32_t layers_ = 0, kv_heads_ = 0, head_dim_ = 0, capacity_ = 0;
  KvType type_ = KvType::f16;
  uint64_t element_bytes_ = 2;
  std::vector<uint32_t> lengths_;
  MappedMemory keys_, values_;
};

}  // namespace dmengine
