#include "dmprof/store/chunk_table.h"

#include <zstd.h>

namespace dmprof::store {

void ChunkTable::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

Result<ChunkTable> ChunkTable::open(sqlite3* database, int compression) {
  ChunkTable table;
  table.context_.reset(ZSTD_createCCtx());
  if (table.context_ == nullptr) return fail(ErrorKind::environment, "no memory for the compressor; free some");
  ZSTD_CCtx_setParameter(table.context_.get(), ZSTD_c_compressionLevel, compression);
  ZSTD_CCtx_setParameter(table.context_.get(), ZSTD_c_checksumFlag, 1);  // a flipped bit is noticed when it is read
  const auto prepare = [&](Statement& statement, const char* sql) -> Status {
    auto made = Statement::prepare(database, sql);
    if (!made) return tl::unexpected(made.error());
    statement = std::move(*made);
    return {};
  };
  DMPROF_TRY(prepare(table.chunk_, "INSERT INTO chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  DMPROF_TRY(prepare(table.column_, "INSERT INTO column_data VALUES (?1, ?2)"));
  DMPROF_TRY(prepare(table.name_, "INSERT INTO chunk_name VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  DMPROF_TRY(prepare(table.track_, "INSERT INTO chunk_track VALUES (?1, ?2, ?3)"));
  return table;
}

Status ChunkTable::insert(const ClosedChunk& chunk) {
  const std::int64_t id = next_chunk_++;
  for (std::size_t i = 0; i < chunk.columns.size(); ++i) {
    if (chunk.entries[i].codec == Codec::constant) continue;
    DMPROF_TRY(insert_column(id * static_cast<std::int64_t>(max_columns) + static_cast<std::int64_t>(i),
                             chunk.columns[i].bytes()));
  }
  std::vector<std::uint8_t> directory;
  put_directory(chunk.entries, directory);
  chunk_.bind(id, std::int64_t{chunk.kind}, chunk.rows, chunk.min_time, chunk.max_time,
              std::span<const std::uint8_t>(directory));
  DMPROF_TRY(chunk_.run());
  for (const GroupCount& name : chunk.names) {
    name_.bind(id, name.id, name.events, name.duration, name.first, name.last);
    DMPROF_TRY(name_.run());
  }
  for (const GroupCount& track : chunk.tracks) {
    track_.bind(id, track.id, track.events);
    DMPROF_TRY(track_.run());
  }
  return {};
}

Status ChunkTable::insert_column(std::int64_t id, std::span<const std::uint8_t> bytes) {
  scratch_.resize(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compress2(context_.get(), scratch_.data(), scratch_.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size)) {
    return fail(ErrorKind::environment,
                std::string("compressing a chunk: ") + ZSTD_getErrorName(size) + "; free some memory");
  }
  bytes_written_ += size;
  column_.bind(id, std::span<const std::uint8_t>(scratch_.data(), size));
  return column_.run();
}

}  // namespace dmprof::store
