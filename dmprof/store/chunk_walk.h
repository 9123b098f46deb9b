// Reads chunks out of a database connection: the one place where stored columns become values, for Reader and for the
// SQL tables alike. Everything read is checked; allocations are bounded by max_chunk_rows.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "dmprof/store/chunk.h"
#include "dmprof/store/codec.h"
#include "dmprof/store/statement.h"

struct ZSTD_DCtx_s;

namespace dmprof::store {

class ChunkWalk final : public ChunkData {
 public:
  // `cut_off`: the file lacks its end; chunks that are not whole are passed over.
  static Result<ChunkWalk> open(sqlite3* database, std::uint8_t kind, bool cut_off = false);

  // The chunks that overlap `range`, in the order of recording; next() visits them.
  Status select(TimeRange range);
  Result<bool> next();  // false: no more
  // Why a column read as zeros since the last call; success when none did.
  Status take_damage();

  const ChunkInfo& info() const override { return current_->info; }  // after next() returned true
  std::span<const std::uint8_t> bytes(std::size_t column) override { return typed<std::uint8_t>(column); }
  std::span<const std::uint32_t> words(std::size_t column) override { return typed<std::uint32_t>(column); }
  std::span<const std::uint64_t> numbers(std::size_t column) override { return typed<std::uint64_t>(column); }
  std::span<const std::int64_t> times(std::size_t column) override { return typed<std::int64_t>(column); }
  std::span<const double> reals(std::size_t column) override { return typed<double>(column); }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  struct Column {
    bool decoded = false;
    bool damaged = false;
    std::unique_ptr<std::byte[]> storage;  // room for the values, whatever their type
    std::size_t capacity = 0;
  };
  // A chunk with what was decoded of it. Chunks never change, so a few stay decoded for whoever looks at one place
  // again.
  struct Slot {
    ChunkInfo info;
    std::vector<ColumnEntry> entries;
    std::vector<Column> columns;
    std::uint64_t used = 0;  // turn of the last visit, 0 = empty
  };
  static constexpr std::size_t slots = 8;

  ChunkWalk() = default;
  Slot& slot_for(std::int64_t id);
  Status load(const ChunkInfo& wanted);
  Status load_directory(Slot& slot);
  Status check_columns();
  template <class T>
  std::span<const T> typed(std::size_t column);
  template <class T>
  Status decode(std::size_t column, std::span<T> out);
  Result<std::span<const std::uint8_t>> fetch(std::size_t column, std::uint64_t raw_bytes);

  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  Statement chunks_;
  Statement directory_;
  Statement data_;
  std::uint8_t kind_ = 0;
  bool cut_off_ = false;
  std::span<const ColumnType> types_;
  std::vector<ChunkInfo> selected_;
  std::size_t position_ = 0;
  std::unique_ptr<std::array<Slot, slots>> slots_ =
      std::make_unique<std::array<Slot, slots>>();  // stays put when moved
  Slot* current_ = nullptr;
  std::uint64_t turn_ = 0;
  std::vector<std::uint8_t> raw_;
  Status damage_;
};

// Chunk bounds of one kind, by id; of a file that is cut off those that can be found.
Result<std::vector<ChunkInfo>> list_chunks(Statement& statement, std::uint8_t kind, TimeRange range,
                                           bool cut_off = false);
Result<Statement> prepare_list(sqlite3* database);

}  // namespace dmprof::store
