// Collects events of one type and turns them into encoded columns as they come: blocks small enough for the cache are
// transposed and appended to the columns, so that closing a chunk only hands buffers over.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "dmprof/event/describe.h"
#include "dmprof/store/codec.h"

namespace dmprof::store {

// Events of a chunk by name or by track.
struct GroupCount {
  std::uint32_t id = 0;
  std::uint64_t events = 0;
  TimeNs duration = 0;
  TimeNs first = std::numeric_limits<TimeNs>::max();
  TimeNs last = std::numeric_limits<TimeNs>::min();
};

// Counts by small dense ids; clearing costs what was touched.
class GroupCounter {
 public:
  GroupCount& at(std::uint32_t id) {
    if (id >= groups_.size()) groups_.resize(std::max<std::size_t>(id + 1ULL, groups_.size() * 2));
    GroupCount& group = groups_[id];
    if (group.events == 0) {
      group.id = id;
      touched_.push_back(id);
    }
    return group;
  }

  // What was counted, by id; starts again from nothing.
  std::vector<GroupCount> take() {
    std::sort(touched_.begin(), touched_.end());
    std::vector<GroupCount> taken;
    taken.reserve(touched_.size());
    for (const std::uint32_t id : touched_) {
      taken.push_back(groups_[id]);
      groups_[id] = GroupCount{};
    }
    touched_.clear();
    return taken;
  }

 private:
  std::vector<GroupCount> groups_;
  std::vector<std::uint32_t> touched_;
};

struct ClosedChunk {
  std::uint8_t kind = 0;
  std::uint64_t rows = 0;
  TimeNs min_time = 0;
  TimeNs max_time = 0;
  std::vector<ColumnEntry> entries;
  std::vector<ByteBuffer> columns;  // empty for a constant column
  std::vector<GroupCount> names;
  std::vector<GroupCount> tracks;

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const ByteBuffer& column : columns) sum += column.size();
    return sum;
  }
};

template <class E>
class ChunkBuilder {
 public:
  ChunkBuilder() {
    for_each_field<E>([&](const auto& field, std::size_t index) { encoders_[index] = ColumnEncoder(field.coding); });
  }

  std::uint64_t rows() const { return encoded_ + waiting_; }

  void add(const E& event) {
    if (block_ == nullptr) block_ = std::make_unique<std::array<E, block_rows>>();
    (*block_)[waiting_++] = event;
    if (waiting_ == block_rows) encode_block();
  }

  // The chunk, which must not be empty; the builder starts the next one.
  ClosedChunk close() {
    encode_block();
    ClosedChunk chunk;
    chunk.kind = Describe<E>::kind;
    chunk.rows = encoded_;
    chunk.min_time = min_time_;
    chunk.max_time = max_time_;
    for (ColumnEncoder& encoder : encoders_) {
      ColumnEntry entry;
      entry.codec = encoder.codec();
      ByteBuffer bytes;
      if (entry.codec == Codec::constant) {
        entry.constant = encoder.constant();
        encoder.restart(encoder.take_bytes());
      } else {
        entry.raw_bytes = encoder.bytes().size();
        bytes = encoder.take_bytes();
        encoder.restart();
      }
      chunk.entries.push_back(entry);
      chunk.columns.push_back(std::move(bytes));
    }
    chunk.names = names_.take();
    chunk.tracks = tracks_.take();
    encoded_ = 0;
    min_time_ = std::numeric_limits<TimeNs>::max();
    max_time_ = std::numeric_limits<TimeNs>::min();
    return chunk;
  }

 private:
  static constexpr std::size_t block_rows = 512;  // 28 … 64 KiB of events: stays in the second-level cache

  void encode_block() {
    const std::span<const E> rows(block_->data(), waiting_);
    std::array<std::uint64_t, block_rows> values;
    for_each_field<E>([&](const auto& field, std::size_t index) {
      for (std::size_t i = 0; i < rows.size(); ++i) values[i] = to_bits(rows[i].*field.member);
      encoders_[index].append({values.data(), rows.size()});
    });
    for (const E& event : rows) {
      const TimeNs begin = begin_of(event);
      const TimeNs end = end_of(event);
      min_time_ = std::min(min_time_, begin);
      max_time_ = std::max(max_time_, end);
      ++tracks_.at(event.track).events;
      if constexpr (HasName<E>) {
        GroupCount& name = names_.at(event.name);
        ++name.events;
        name.first = std::min(name.first, begin);
        name.last = std::max(name.last, end);
        if constexpr (HasDuration<E>) name.duration = add_duration(name.duration, event.duration);
      }
    }
    encoded_ += waiting_;
    waiting_ = 0;
  }

  std::unique_ptr<std::array<E, block_rows>> block_;  // made when the first event of this type comes
  std::size_t waiting_ = 0;
  std::uint64_t encoded_ = 0;
  TimeNs min_time_ = std::numeric_limits<TimeNs>::max();
  TimeNs max_time_ = std::numeric_limits<TimeNs>::min();
  std::array<ColumnEncoder, field_count<E>> encoders_;
  GroupCounter names_;
  GroupCounter tracks_;
};

}  // namespace dmprof::store
