// Compresses closed chunks and inserts them, with their summaries. Used by the committing thread only.
#pragma once

#include <memory>
#include <vector>

#include "dmprof/store/chunk_builder.h"
#include "dmprof/store/statement.h"

struct ZSTD_CCtx_s;

namespace dmprof::store {

class ChunkTable {
 public:
  static Result<ChunkTable> open(sqlite3* database, int compression);

  Status insert(const ClosedChunk& chunk);
  std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  ChunkTable() = default;
  Status insert_column(std::int64_t id, std::span<const std::uint8_t> bytes);

  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  Statement chunk_;
  Statement column_;
  Statement name_;
  Statement track_;
  std::int64_t next_chunk_ = 1;
  std::uint64_t bytes_written_ = 0;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace dmprof::store
