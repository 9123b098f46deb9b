#include "dmprof/store/chunk_walk.h"

#include <zstd.h>

#include <algorithm>
#include <limits>

namespace dmprof::store {

void ChunkWalk::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Result<Statement> prepare_list(sqlite3* database) {
  return Statement::prepare(database,
                            "SELECT id, rows, min_time, max_time FROM main.chunk "
                            "WHERE kind = ?1 AND min_time <= ?2 AND max_time >= ?3");
}

Result<std::vector<ChunkInfo>> list_chunks(Statement& statement, std::uint8_t kind, TimeRange range, bool cut_off) {
  std::vector<ChunkInfo> chunks;
  if (range.empty()) return chunks;
  // Inclusive on both sides: a point at the very end of a chunk counts, rows are compared exactly by who looks at them.
  statement.bind(std::int64_t{kind}, range.end, range.begin);
  for (;;) {
    const Result<bool> row = statement.step();
    if (!row && cut_off && row.error().kind == ErrorKind::bad_input) break;
    if (!row) {
      statement.reset();
      return tl::unexpected(row.error());
    }
    if (!*row) break;
    ChunkInfo chunk;
    chunk.id = statement.integer(0);
    chunk.rows = static_cast<std::uint64_t>(statement.integer(1));
    chunk.min_time = statement.integer(2);
    chunk.max_time = statement.integer(3);
    chunks.push_back(chunk);
  }
  statement.reset();
  std::sort(chunks.begin(), chunks.end(), [](const ChunkInfo& a, const ChunkInfo& b) { return a.id < b.id; });
  return chunks;
}

Result<ChunkWalk> ChunkWalk::open(sqlite3* database, std::uint8_t kind, bool cut_off) {
  ChunkWalk walk;
  walk.cut_off_ = cut_off;
  walk.kind_ = kind;
  walk.types_ = column_types(kind);
  walk.context_.reset(ZSTD_createDCtx());
  if (walk.context_ == nullptr) return fail(ErrorKind::environment, "no memory for the decompressor; free some");
  const auto prepare = [&](Statement& statement, std::string_view sql) -> Status {
    auto made = Statement::prepare(database, sql);
    if (!made) return tl::unexpected(made.error());
    statement = std::move(*made);
    return {};
  };
  auto list = prepare_list(database);
  if (!list) return tl::unexpected(list.error());
  walk.chunks_ = std::move(*list);
  DMPROF_TRY(prepare(walk.directory_, "SELECT columns FROM main.chunk WHERE id = ?1"));
  DMPROF_TRY(prepare(walk.data_, "SELECT data FROM main.column_data WHERE id = ?1"));
  return walk;
}

Status ChunkWalk::select(TimeRange range) {
  auto chunks = list_chunks(chunks_, kind_, range, cut_off_);
  if (!chunks) return tl::unexpected(chunks.error());
  selected_ = std::move(*chunks);
  position_ = 0;
  return {};
}

Result<bool> ChunkWalk::next() {
  while (position_ < selected_.size()) {
    Status loaded = load(selected_[position_++]);
    if (loaded && cut_off_) loaded = check_columns();
    if (loaded) return true;
    if (!cut_off_ || loaded.error().kind != ErrorKind::bad_input) return tl::unexpected(loaded.error());
  }
  return false;
}

Status ChunkWalk::load(const ChunkInfo& wanted) {
  constexpr std::int64_t largest_id =
      std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(max_columns) - 1;
  if (wanted.id < 0 || wanted.id > largest_id) {
    return fail(ErrorKind::bad_input,
                "a chunk with an impossible number; the file is damaged, record again or use a copy");
  }
  Slot& slot = slot_for(wanted.id);
  if (slot.used == 0 || slot.info.id != wanted.id) {
    slot.used = 0;
    slot.info = wanted;
    DMPROF_TRY(load_directory(slot));
    slot.columns.resize(types_.size());
    for (Column& column : slot.columns) column.decoded = false;
  }
  for (Column& column : slot.columns) column.damaged = false;
  slot.used = ++turn_;
  current_ = &slot;
  return {};
}

// Whether the data of every column is there and whole, before anybody gets to see some of it.
Status ChunkWalk::check_columns() {
  for (std::size_t i = 0; i < current_->entries.size(); ++i) {
    if (current_->entries[i].codec == Codec::constant) continue;
    if (const auto fetched = fetch(i, current_->entries[i].raw_bytes); !fetched) return tl::unexpected(fetched.error());
  }
  return {};
}

// The slot that holds the chunk; else the one to overwrite: the longest unused, or always the first when more chunks
// are selected than there are slots, since none of them would still be there the next time.
ChunkWalk::Slot& ChunkWalk::slot_for(std::int64_t id) {
  Slot* oldest = &slots_->front();
  for (Slot& slot : *slots_) {
    if (slot.used != 0 && slot.info.id == id) return slot;
    if (slot.used < oldest->used) oldest = &slot;
  }
  return selected_.size() > slots ? slots_->front() : *oldest;
}

Status ChunkWalk::load_directory(Slot& slot) {
  directory_.bind(slot.info.id);
  const Result<bool> row = directory_.step();
  if (!row || !*row) {
    directory_.reset();
    if (!row) return tl::unexpected(row.error());
    return fail(ErrorKind::bad_input,
                "chunk " + std::to_string(slot.info.id) + " vanished; the file is damaged, record again or use a copy");
  }
  auto entries = get_directory(directory_.blob(0), slot.info.rows, types_.size());
  directory_.reset();
  if (!entries) {
    return fail(ErrorKind::bad_input, "chunk " + std::to_string(slot.info.id) + ": " + entries.error().message);
  }
  slot.entries = std::move(*entries);
  return {};
}

Status ChunkWalk::take_damage() { return std::exchange(damage_, Status{}); }

template <class T>
std::span<const T> ChunkWalk::typed(std::size_t index) {
  Column& column = current_->columns[index];
  const auto rows = static_cast<std::size_t>(current_->info.rows);
  if (column.capacity < rows * sizeof(T)) {
    column.capacity = rows * sizeof(T);
    column.storage = std::make_unique_for_overwrite<std::byte[]>(column.capacity);
  }
  const std::span<T> values(reinterpret_cast<T*>(column.storage.get()), rows);
  if (column.decoded || column.damaged) return values;
  if (Status done = decode<T>(index, values); done) {
    column.decoded = true;
  } else {
    column.damaged = true;
    std::fill(values.begin(), values.end(), T{});
    if (damage_) {
      damage_ = fail(done.error().kind, "chunk " + std::to_string(current_->info.id) + ", column " +
                                            std::string(types_[index].name) + ": " + done.error().message);
    }
  }
  return values;
}

template <class T>
Status ChunkWalk::decode(std::size_t index, std::span<T> out) {
  const ColumnEntry& entry = current_->entries[index];
  std::span<const std::uint8_t> bytes;
  if (entry.codec != Codec::constant) {
    auto fetched = fetch(index, entry.raw_bytes);
    if (!fetched) return tl::unexpected(fetched.error());
    bytes = *fetched;
  }
  return decode_column<T>(entry.codec, entry.constant, bytes, types_[index].largest, out);
}

Result<std::span<const std::uint8_t>> ChunkWalk::fetch(std::size_t column, std::uint64_t raw_bytes) {
  data_.bind(current_->info.id * static_cast<std::int64_t>(max_columns) + static_cast<std::int64_t>(column));
  const Result<bool> row = data_.step();
  if (!row || !*row) {
    data_.reset();
    if (!row) return tl::unexpected(row.error());
    return fail(ErrorKind::bad_input, "its data is missing; the file is damaged, record again or use a copy");
  }
  const std::span<const std::uint8_t> stored = data_.blob(0);
  // raw_bytes was checked against the rows of the chunk: what the frame claims cannot make this larger.
  if (raw_.size() < raw_bytes) raw_.resize(static_cast<std::size_t>(raw_bytes));
  const std::size_t size = ZSTD_decompressDCtx(context_.get(), raw_.data(), static_cast<std::size_t>(raw_bytes),
                                               stored.data(), stored.size());
  data_.reset();
  if (ZSTD_isError(size) || size != raw_bytes) {
    return fail(ErrorKind::bad_input, std::string("cannot be unpacked (") +
                                          (ZSTD_isError(size) ? ZSTD_getErrorName(size) : "wrong length") +
                                          "); the file is damaged, use a copy or record again");
  }
  return std::span<const std::uint8_t>(raw_.data(), size);
}

}  // namespace dmprof::store
