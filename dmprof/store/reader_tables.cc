// The plain tables of a recording.
#include <algorithm>

#include "dmprof/base/process.h"
#include "dmprof/store/reader_state.h"

namespace dmprof {

namespace {

using store::Statement;

constexpr std::size_t most_names = 1U << 24;  // a hostile id must not make the table of names arbitrarily large

// Reads every row of `sql` through `make`.
template <class Row, class State, class Make>
Result<std::vector<Row>> rows(const State& state, std::string_view sql, Make&& make) {
  const auto located = [&](const Error& error) { return tl::unexpected(state.located(error)); };
  auto statement = Statement::prepare(state.database.get(), sql);
  if (!statement) return located(statement.error());
  std::vector<Row> read;
  for (;;) {
    const Result<bool> row = statement->step();
    if (!row) return located(row.error());
    if (!*row) return read;
    read.push_back(make(*statement));
  }
}

std::uint32_t small(std::int64_t value) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, UINT32_MAX));
}
std::uint64_t natural(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)); }

ClockKind clock_kind(const std::string& word) {
  if (word == "virtual") return ClockKind::virtual_time;
  if (word == "device") return ClockKind::device;
  return ClockKind::monotonic;
}

}  // namespace

Result<RunInfo> Reader::run() const {
  auto runs = rows<RunInfo>(
      *state_, "SELECT started, finished, reason, dmprof_version, recorder_pid, recorder_start FROM run",
      [](const Statement& row) {
        RunInfo run;
        run.started = row.integer(0);
        if (!row.is_null(1)) run.finished = row.integer(1);
        run.reason = row.text(2);
        run.dmprof_version = row.text(3);
        if (run.finished) {
          run.end = RunEnd::finished;
        } else {
          run.end = is_alive(row.integer(4), static_cast<std::uint64_t>(row.integer(5))) ? RunEnd::recording
                                                                                         : RunEnd::interrupted;
        }
        return run;
      });
  if (!runs) return tl::unexpected(runs.error());
  if (runs->size() != 1)
    return fail(ErrorKind::bad_input,
                path() + ": nothing says when it was recorded; the file is damaged, record again or use a copy");
  const auto version = store::query_integer(state_->database.get(), "PRAGMA user_version");
  if (!version) return tl::unexpected(state_->located(version.error()));
  runs->front().format_version = static_cast<int>(*version);
  return runs->front();
}

Result<std::vector<ProcessRow>> Reader::processes() const {
  return rows<ProcessRow>(*state_, "SELECT id, pid, parent_pid, name, command FROM process ORDER BY id",
                          [](const Statement& row) {
                            ProcessRow process;
                            process.id = small(row.integer(0));
                            process.pid = row.integer(1);
                            process.parent_pid = row.integer(2);
                            process.name = row.text(3);
                            process.command = row.text(4);
                            return process;
                          });
}

Result<std::vector<ClockRow>> Reader::clocks() const {
  return rows<ClockRow>(*state_, "SELECT id, name, kind, quality FROM clock ORDER BY id", [](const Statement& row) {
    ClockRow clock;
    clock.id = small(row.integer(0));
    clock.name = row.text(1);
    clock.kind = clock_kind(row.text(2));
    clock.quality = row.text(3);
    return clock;
  });
}

Result<std::vector<ClockSync>> Reader::clock_syncs() const {
  return rows<ClockSync>(
      *state_, "SELECT clock, domain_time, monotonic, realtime, uncertainty FROM clock_sync ORDER BY rowid",
      [](const Statement& row) {
        return ClockSync{small(row.integer(0)), row.integer(1), row.integer(2), row.integer(3), row.integer(4)};
      });
}

Result<std::vector<TrackRow>> Reader::tracks() const {
  return rows<TrackRow>(*state_, "SELECT id, process, thread_id, clock, name FROM track ORDER BY id",
                        [](const Statement& row) {
                          TrackRow track;
                          track.id = small(row.integer(0));
                          track.process = small(row.integer(1));
                          track.thread_id = row.integer(2);
                          track.clock = small(row.integer(3));
                          track.name = row.text(4);
                          return track;
                        });
}

Result<std::vector<CapacityRow>> Reader::capacities() const {
  return rows<CapacityRow>(*state_,
                           "SELECT id, process, name, kind, rank, managed, size_bytes, datasheet_bandwidth, "
                           "measured_bandwidth, peak_flops, units FROM capacity ORDER BY id",
                           [](const Statement& row) {
                             CapacityRow capacity;
                             capacity.id = small(row.integer(0));
                             capacity.process = small(row.integer(1));
                             capacity.name = row.text(2);
                             capacity.kind = row.text(3);
                             capacity.rank = small(row.integer(4));
                             capacity.managed = row.integer(5) != 0;
                             capacity.size_bytes = natural(row.integer(6));
                             capacity.datasheet_bandwidth = row.real(7);
                             capacity.measured_bandwidth = row.real(8);
                             capacity.peak_flops = row.real(9);
                             capacity.units = small(row.integer(10));
                             return capacity;
                           });
}

Result<std::vector<Knob>> Reader::knobs() const {
  return rows<Knob>(*state_,
                    "SELECT process, name, value, type, range, how, handle, unit, since FROM knob "
                    "ORDER BY process, name, since",
                    [](const Statement& row) {
                      return Knob{small(row.integer(0)), row.text(1), row.text(2), row.text(3),   row.text(4),
                                  row.text(5),           row.text(6), row.text(7), row.integer(8)};
                    });
}

Result<std::vector<Setting>> Reader::environment() const {
  return rows<Setting>(*state_, "SELECT key, value FROM environment ORDER BY key", [](const Statement& row) {
    return Setting{row.text(0), row.text(1)};
  });
}

Result<std::vector<Loss>> Reader::losses() const {
  return rows<Loss>(*state_, "SELECT track, cause, events FROM loss ORDER BY track, cause", [](const Statement& row) {
    return Loss{small(row.integer(0)), row.text(1), natural(row.integer(2))};
  });
}

Result<std::vector<TrackBalance>> Reader::balance() const {
  return rows<TrackBalance>(*state_, "SELECT track, emitted, lost, recorded FROM balance ORDER BY track",
                            [](const Statement& row) {
                              TrackBalance balance;
                              balance.track = small(row.integer(0));
                              if (!row.is_null(1)) balance.emitted = natural(row.integer(1));
                              balance.lost = natural(row.integer(2));
                              balance.recorded = natural(row.integer(3));
                              return balance;
                            });
}

Result<std::vector<std::string>> Reader::names() const {
  auto statement = Statement::prepare(state_->database.get(), "SELECT id, text FROM name WHERE id >= ?1 ORDER BY id");
  if (!statement) return tl::unexpected(state_->located(statement.error()));
  std::vector<std::string>& names = state_->names;
  if (names.empty()) names.emplace_back();
  statement->bind(static_cast<std::int64_t>(names.size()));
  for (;;) {
    const Result<bool> row = statement->step();
    if (!row) return tl::unexpected(state_->located(row.error()));
    if (!*row) return names;
    if (statement->integer(0) != static_cast<std::int64_t>(names.size()) || names.size() > most_names) {
      return fail(ErrorKind::bad_input,
                  path() + ": the table of names has gaps; the file is damaged, record again or use a copy");
    }
    names.push_back(statement->text(1));
  }
}

std::string Reader::name(NameId id) const {
  if (id >= state_->names.size()) (void)names();  // a failure leaves the id unknown
  return id < state_->names.size() ? state_->names[id] : "?";
}

NameId Reader::find_name(std::string_view text) const {
  (void)names();
  const auto& names = state_->names;
  const auto found = std::find(names.begin(), names.end(), text);
  return found == names.end() ? 0 : static_cast<NameId>(found - names.begin());
}

Result<std::vector<StoredMetric>> Reader::metrics() const {
  return rows<StoredMetric>(*state_, "SELECT name, definition, json FROM metric ORDER BY name",
                            [](const Statement& row) {
                              return StoredMetric{row.text(0), row.text(1), row.text(2)};
                            });
}

Result<std::vector<StoredFinding>> Reader::findings() const {
  return rows<StoredFinding>(*state_, "SELECT rule, severity, json FROM finding ORDER BY id", [](const Statement& row) {
    return StoredFinding{row.text(0), row.text(1), row.text(2)};
  });
}

Result<std::string> Reader::contents_mark() const {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  // The first is answered from an index, and the length of a BLOB stands in front of it: no column is read.
  for (const std::string_view sql :
       {"SELECT count(*), max(id), total(rows), min(min_time), max(max_time) FROM chunk",
        "SELECT count(*), max(id), total(length(data)), '', '' FROM column_data",
        "SELECT count(*), total(events), '', '', '' FROM loss",
        "SELECT count(*), total(events), '', '', '' FROM emitted",
        "SELECT count(*), total(size_bytes), total(datasheet_bandwidth), total(measured_bandwidth), total(peak_flops) "
        "FROM capacity",
        "SELECT count(*), total(length(value)), '', '', '' FROM knob",
        "SELECT count(*), total(length(value)), '', '', '' FROM environment",
        "SELECT (SELECT count(*) FROM process), (SELECT count(*) FROM track), (SELECT count(*) FROM name), started, "
        "finished FROM run"}) {
    const auto figures = rows<std::string>(*state_, sql, [](const Statement& row) {
      std::string text;
      for (int i = 0; i < 5; ++i) text += row.text(i) + '|';
      return text;
    });
    if (!figures) return tl::unexpected(figures.error());
    for (const std::string& text : *figures) {
      for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    }
  }
  constexpr char digits[] = "0123456789abcdef";
  std::string mark;
  for (int shift = 60; shift >= 0; shift -= 4) mark += digits[hash >> shift & 15];
  return mark;
}

}  // namespace dmprof
