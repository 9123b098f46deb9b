#include "dmprof/store/writer.h"

#include <unistd.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "dmprof/base/process.h"
#include "dmprof/store/chunk_builder.h"
#include "dmprof/store/commit_queue.h"
#include "dmprof/store/connection.h"
#include "dmprof/store/schema.h"

#ifndef DMPROF_VERSION
#error "the build defines DMPROF_VERSION"
#endif

namespace dmprof {

namespace {

using store::ChunkBuilder;
using store::clean_text;
using store::Statement;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_name_bytes = 4096;

TimeNs now_realtime() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string_view word(ClockKind kind) {
  switch (kind) {
    case ClockKind::virtual_time:
      return "virtual";
    case ClockKind::device:
      return "device";
    case ClockKind::monotonic:
      break;
  }
  return "monotonic";
}

// SQLite stores a NaN as NULL, which these columns refuse; an unknown figure is 0.
double known_or_zero(double figure) { return std::isfinite(figure) ? figure : 0; }

template <class Variant>
struct BuildersOf;
template <class... E>
struct BuildersOf<std::variant<E...>> {
  using Type = std::tuple<ChunkBuilder<E>...>;
};
using Builders = BuildersOf<Event>::Type;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace

struct Writer::State {
  std::string path;
  WriterOptions options;
  store::Database database;
  std::unique_ptr<store::CommitQueue> queue;  // declared after the connection it uses: ends first
  Builders builders;
  std::unordered_map<std::string, NameId, TextHash, std::equal_to<>> names;
  std::map<std::pair<std::uint32_t, std::string>, TierId> capacities;
  std::uint32_t processes = 0;
  std::uint32_t clocks = 0;
  std::uint32_t tracks = 0;
  std::uint64_t accepted = 0;
  bool has_open_chunk = false;
  bool finished = false;
  Clock::time_point opened{};  // when the oldest open chunk got its first event

  Status closed() const { return fail(ErrorKind::usage, path + ": the recording was finished; begin a new one"); }

  // Runs `sql` on the committing thread with the values bound in order.
  template <class... Values>
  Status change(const char* sql, Values... values) {
    if (finished) return closed();
    return located(queue->push([sql, values...](sqlite3* connection) -> Status {
      auto statement = Statement::prepare(connection, sql);
      if (!statement) return tl::unexpected(statement.error());
      statement->bind(values...);
      return statement->run();
    }));
  }

  Status located(Status status) const {
    if (!status) status.error().message = path + ": " + status.error().message;
    return status;
  }

  Status unknown(const char* what, std::uint64_t id) const {
    return fail(ErrorKind::usage,
                path + ": " + what + " " + std::to_string(id) + " was never added; add it before use");
  }

  template <class E>
  Status check_ids(const E& event) const {
    Status status;
    for_each_field<E>([&](const auto& field, std::size_t) {
      using Value = typename std::remove_cvref_t<decltype(field)>::Value;
      if constexpr (std::is_same_v<Value, std::uint32_t>) {
        const std::uint64_t id = event.*field.member;
        if (field.meaning == Meaning::track && id > tracks) status = unknown("track", id);
        if (field.meaning == Meaning::name && id > names.size()) status = unknown("name", id);
        if (field.meaning == Meaning::tier && id > capacities.size()) status = unknown("tier", id);
      }
    });
    return status;
  }

  template <class E>
  bool ids_are_known(const E& event) const {
    bool known = true;
    for_each_field<E>([&](const auto& field, std::size_t) {
      using Value = typename std::remove_cvref_t<decltype(field)>::Value;
      if constexpr (std::is_same_v<Value, std::uint32_t>) {
        const std::uint64_t id = event.*field.member;
        if (field.meaning == Meaning::track) known = known && id <= tracks;
        if (field.meaning == Meaning::name) known = known && id <= names.size();
        if (field.meaning == Meaning::tier) known = known && id <= capacities.size();
      } else if constexpr (std::is_enum_v<Value>) {
        known = known && is_known(event.*field.member);
      }
    });
    return known;
  }

  // Adds the events from the start of `events` that have the type of the first; returns how many.
  template <class E>
  Result<std::size_t> accept_run(std::span<const Event> events) {
    auto& builder = std::get<ChunkBuilder<E>>(builders);
    std::size_t taken = 0;
    for (; taken < events.size(); ++taken) {
      const E* event = std::get_if<E>(&events[taken]);
      if (event == nullptr) break;
      if (!ids_are_known(*event)) {
        const Status why = check_ids(*event);
        if (!why) return tl::unexpected(why.error());
        return fail(ErrorKind::usage, path + ": an event with an enumeration value that has no word; see event.h");
      }
      builder.add(*event);
      ++accepted;
      if (builder.rows() >= options.chunk_rows) {
        if (Status pushed = queue->push(builder.close()); !pushed) return tl::unexpected(located(pushed).error());
      }
    }
    return taken;
  }

  Status close_chunks() {
    Status status;
    std::apply(
        [&](auto&... builder) {
          (void)((builder.rows() == 0 || !status ? true : bool(status = queue->push(builder.close()))) && ...);
        },
        builders);
    has_open_chunk = false;
    if (status) status = queue->commit();
    return located(status);
  }
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Writer>> Writer::create(const std::string& path, const WriterOptions& options) {
  if (options.chunk_rows == 0 || options.chunk_rows > store::max_chunk_rows) {
    return fail(ErrorKind::usage, "chunk_rows must be between 1 and " + std::to_string(store::max_chunk_rows));
  }
  auto database = store::create_database(path, options.overwrite, options.max_file_bytes);
  if (!database) return tl::unexpected(database.error());
  const auto at_path = [&](Error error) {
    database->reset();
    store::remove_files(path);  // a few pages of nothing, mostly on a full disk
    return tl::unexpected(Error{error.kind, path + ": " + error.message});
  };
  if (Status made = store::migrate(database->get()); !made) return at_path(made.error());
  auto run = Statement::prepare(database->get(), "INSERT INTO run VALUES (1, ?1, NULL, NULL, ?2, ?3, ?4)");
  if (!run) return at_path(run.error());
  run->bind(now_realtime(), DMPROF_VERSION, std::int64_t{getpid()}, static_cast<std::int64_t>(process_start(getpid())));
  if (Status begun = run->run(); !begun) return at_path(begun.error());
  auto table = store::ChunkTable::open(database->get(), options.compression);
  if (!table) return at_path(table.error());

  auto state = std::make_unique<State>();
  state->path = path;
  state->options = options;
  state->database = std::move(*database);
  state->queue = std::make_unique<store::CommitQueue>(state->database.get(), std::move(*table), options.queue_bytes);
  return std::unique_ptr<Writer>(new Writer(std::move(state)));
}

Writer::~Writer() {
  if (state_->finished) return;
  (void)state_->close_chunks();
  state_->queue->stop();
}

NameId Writer::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto found = state_->names.find(text); found != state_->names.end()) return found->second;
  const auto id = static_cast<NameId>(state_->names.size() + 1);
  state_->names.emplace(text, id);
  // A failure is kept by the queue and returned by the next call that can fail.
  (void)state_->change("INSERT INTO name VALUES (?1, ?2)", id, clean_text(text, max_name_bytes));
  return id;
}

Result<std::uint32_t> Writer::add_process(const Process& process) {
  const std::uint32_t id = state_->processes + 1;
  const Status added = state_->change("INSERT INTO process VALUES (?1, ?2, ?3, ?4, ?5)", id, process.pid,
                                      process.parent_pid, clean_text(process.name), clean_text(process.command));
  if (!added) return tl::unexpected(added.error());
  return state_->processes = id;
}

Result<std::uint32_t> Writer::add_clock(const ClockDomain& clock) {
  const std::uint32_t id = state_->clocks + 1;
  const Status added = state_->change("INSERT INTO clock VALUES (?1, ?2, ?3, ?4)", id, clean_text(clock.name),
                                      std::string(word(clock.kind)), clean_text(clock.quality));
  if (!added) return tl::unexpected(added.error());
  return state_->clocks = id;
}

Result<TrackId> Writer::add_track(const Track& track) {
  if (track.process > state_->processes) return tl::unexpected(state_->unknown("process", track.process).error());
  if (track.clock > state_->clocks) return tl::unexpected(state_->unknown("clock", track.clock).error());
  const TrackId id = state_->tracks + 1;
  const Status added = state_->change("INSERT INTO track VALUES (?1, ?2, ?3, ?4, ?5)", id, track.process,
                                      track.thread_id, track.clock, clean_text(track.name));
  if (!added) return tl::unexpected(added.error());
  return state_->tracks = id;
}

Result<TierId> Writer::add_capacity(const Capacity& capacity) {
  if (capacity.process > state_->processes) return tl::unexpected(state_->unknown("process", capacity.process).error());
  const auto next = static_cast<TierId>(state_->capacities.size() + 1);
  const auto known = state_->capacities.find({capacity.process, capacity.name});
  const TierId id = known == state_->capacities.end() ? next : known->second;
  const Status added = state_->change(
      "INSERT OR REPLACE INTO capacity VALUES (?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, 0), "
      "nullif(?8, 0), nullif(?9, 0), nullif(?10, 0), nullif(?11, 0))",
      id, capacity.process, clean_text(capacity.name), clean_text(capacity.kind), capacity.rank, capacity.managed,
      capacity.size_bytes, known_or_zero(capacity.datasheet_bandwidth), known_or_zero(capacity.measured_bandwidth),
      known_or_zero(capacity.peak_flops), capacity.units);
  if (!added) return tl::unexpected(added.error());
  if (id == next) state_->capacities.emplace(std::pair(capacity.process, capacity.name), id);
  return id;
}

Status Writer::add_knob(const Knob& knob) {
  if (knob.process > state_->processes) return state_->unknown("process", knob.process);
  return state_->change("INSERT OR REPLACE INTO knob VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", knob.process,
                        clean_text(knob.name), knob.since, clean_text(knob.value), clean_text(knob.type),
                        clean_text(knob.range), clean_text(knob.how), clean_text(knob.handle), clean_text(knob.unit));
}

Status Writer::add_clock_sync(const ClockSync& sync) {
  if (sync.domain > state_->clocks) return state_->unknown("clock", sync.domain);
  return state_->change("INSERT INTO clock_sync VALUES (?1, ?2, ?3, ?4, ?5)", sync.domain, sync.domain_time,
                        sync.monotonic, sync.realtime, sync.uncertainty);
}

Status Writer::add_loss(const Loss& loss) {
  if (loss.track > state_->tracks) return state_->unknown("track", loss.track);
  return state_->change(
      "INSERT INTO loss VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET events = events + excluded.events", loss.track,
      clean_text(loss.cause), loss.events);
}

Status Writer::add_emitted(TrackId track, std::uint64_t events) {
  if (track > state_->tracks) return state_->unknown("track", track);
  return state_->change(
      "INSERT INTO emitted VALUES (?1, ?2) ON CONFLICT DO UPDATE SET events = events + excluded.events", track, events);
}

Status Writer::set_environment(std::string_view key, std::string_view value) {
  return state_->change("INSERT OR REPLACE INTO environment VALUES (?1, ?2)", clean_text(key), clean_text(value));
}

Status Writer::accept(std::span<const Event> events) {
  State& state = *state_;
  if (state.finished) return state.closed();
  if (events.empty()) return {};
  const Clock::time_point now = Clock::now();
  if (!state.has_open_chunk) {
    state.has_open_chunk = true;
    state.opened = now;
  }
  while (!events.empty()) {
    const Result<std::size_t> taken =
        std::visit([&](const auto& first) { return state.accept_run<std::remove_cvref_t<decltype(first)>>(events); },
                   events.front());
    if (!taken) return tl::unexpected(taken.error());
    events = events.subspan(*taken);
  }
  if (now - state.opened >= state.options.flush_interval) return state.close_chunks();
  return {};
}

Status Writer::flush() {
  if (state_->finished) return state_->closed();
  return state_->close_chunks();
}

Status Writer::sync() {
  DMPROF_TRY(flush());
  return state_->located(state_->queue->wait());
}

Status Writer::finish(std::string_view reason) {
  State& state = *state_;
  if (state.finished) return state.closed();
  Status status = state.close_chunks();
  if (status) status = state.change("UPDATE run SET finished = ?1, reason = ?2", now_realtime(), clean_text(reason));
  if (status) status = state.located(state.queue->wait());
  state.finished = true;
  state.queue->stop();
  if (!status) return status;
  sqlite3* database = state.database.get();
  sqlite3_wal_checkpoint_v2(database, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  // A reader that is still open keeps the file in WAL mode; it then becomes one file when that reader closes.
  sqlite3_exec(database, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  return {};
}

std::uint64_t Writer::events_accepted() const { return state_->accepted; }
std::uint64_t Writer::events_committed() const { return state_->queue->events_committed(); }
std::uint64_t Writer::bytes_written() const { return state_->queue->bytes_written(); }
const std::string& Writer::path() const { return state_->path; }

}  // namespace dmprof
