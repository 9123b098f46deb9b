#include "dmprof/store/reader.h"

#include <algorithm>
#include <map>

#include "dmprof/store/chunk_walk.h"
#include "dmprof/store/reader_state.h"
#include "dmprof/store/room.h"

namespace dmprof {

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

bool Reader::recognises(const std::string& path) { return store::is_recording_file(path); }

Result<Reader> Reader::open(const std::string& path) {
  auto database = store::open_read_only(path);
  if (!database) return tl::unexpected(database.error());
  auto state = std::make_unique<State>();
  state->path = path;
  state->missing_bytes = store::bytes_missing(path);
  state->database = std::move(*database);
  return Reader(std::move(state));
}

const std::string& Reader::path() const { return state_->path; }
std::uint64_t Reader::missing_bytes() const { return state_->missing_bytes; }
std::uint64_t Reader::missing_bytes(const std::string& path) { return store::bytes_missing(path); }

Status Reader::walk(std::uint8_t kind, TimeRange range, const std::function<bool(ChunkData&)>& visit) const {
  // Statements and buffers are kept from one walk to the next; a walk inside a walk of the same kind gets its own.
  std::unique_ptr<store::ChunkWalk> walk = std::exchange(state_->idle[kind], nullptr);
  if (walk == nullptr) {
    auto opened = store::ChunkWalk::open(state_->database.get(), kind, state_->missing_bytes > 0);
    if (!opened) return tl::unexpected(state_->located(opened.error()));
    walk = std::make_unique<store::ChunkWalk>(std::move(*opened));
  }
  Status done = walk->select(range);
  while (done) {
    const Result<bool> more = walk->next();
    if (!more) {
      done = tl::unexpected(more.error());
      break;
    }
    if (!*more) break;
    const bool wants_more = visit(*walk);
    done = walk->take_damage();
    if (!wants_more) break;
  }
  state_->idle[kind] = std::move(walk);
  if (!done) return tl::unexpected(state_->located(done.error()));
  return {};
}

Status Reader::check_room(std::uint64_t bytes) const {
  return store::check_room(path(), bytes, store::stored_bytes(path()), store::memory_budget());
}

Result<std::uint64_t> Reader::count_kind(std::uint8_t kind) const {
  auto chunks = chunks_of_kind(kind, {});
  if (!chunks) return tl::unexpected(chunks.error());
  std::uint64_t sum = 0;
  for (const ChunkInfo& chunk : *chunks) sum += chunk.rows;
  return sum;
}

Result<std::vector<ChunkInfo>> Reader::chunks_of_kind(std::uint8_t kind, TimeRange range) const {
  auto statement = store::prepare_list(state_->database.get());
  if (!statement) return tl::unexpected(state_->located(statement.error()));
  auto chunks = store::list_chunks(*statement, kind, range, state_->missing_bytes > 0);
  if (!chunks) return tl::unexpected(state_->located(chunks.error()));
  for (const ChunkInfo& chunk : *chunks) {
    if (chunk.rows == 0 || chunk.rows > store::max_chunk_rows) {
      return fail(ErrorKind::bad_input,
                  path() + ": chunk " + std::to_string(chunk.id) +
                      " has an impossible number of rows; the file is damaged, record again or use a copy");
    }
  }
  return chunks;
}

Result<std::vector<NameSummary>> Reader::names_of_kind(std::uint8_t kind) const {
  auto statement = store::Statement::prepare(state_->database.get(),
                                             "SELECT name, events, duration, first, last FROM chunk_name WHERE chunk "
                                             "IN (SELECT id FROM chunk WHERE kind = ?1)");
  if (!statement) return tl::unexpected(state_->located(statement.error()));
  statement->bind(std::int64_t{kind});
  std::map<NameId, NameSummary> names;
  for (;;) {
    const Result<bool> row = statement->step();
    if (!row) return tl::unexpected(state_->located(row.error()));
    if (!*row) break;
    const auto id = static_cast<NameId>(statement->integer(0));
    const auto [entry, fresh] = names.try_emplace(id);
    NameSummary& name = entry->second;
    name.name = id;
    name.count += static_cast<std::uint64_t>(statement->integer(1));
    name.duration = add_duration(name.duration, statement->integer(2));
    name.first = fresh ? statement->integer(3) : std::min<TimeNs>(name.first, statement->integer(3));
    name.last = fresh ? statement->integer(4) : std::max<TimeNs>(name.last, statement->integer(4));
  }
  std::vector<NameSummary> sorted;
  sorted.reserve(names.size());
  for (const auto& [id, name] : names) sorted.push_back(name);
  return sorted;
}

Result<TimeRange> Reader::time_bounds() const {
  auto statement = store::Statement::prepare(state_->database.get(), "SELECT min(min_time), max(max_time) FROM chunk");
  if (!statement) return tl::unexpected(state_->located(statement.error()));
  const Result<bool> row = statement->step();
  if (!row) return tl::unexpected(state_->located(row.error()));
  if (!*row || statement->is_null(0)) return TimeRange{0, 0};
  return TimeRange{statement->integer(0), statement->integer(1)};
}

}  // namespace dmprof
