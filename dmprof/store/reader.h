// Reads one recording, read-only; also while it is still being written (each call sees the newest commit).
//
//   auto reader = Reader::open(path);
//   Status done = reader->scan<Slice>({}, [&](const Chunk<Slice>& chunk) {
//     for (TimeNs duration : chunk.column<&Slice::duration>()) …          // only the columns you touch are decoded
//   });
//
// Nothing in the file is trusted: lengths, counts and values are checked before they are used, and a damaged chunk is
// an error that names it, never a crash or an unbounded allocation.
//
// Thread-safety: one thread at a time uses a Reader; open one per thread. Errors: `bad_input` (not a recording,
// damaged, newer version), `environment` (no such file, no permission).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/event/describe.h"
#include "dmprof/event/event.h"
#include "dmprof/store/chunk.h"
#include "dmprof/store/tables.h"

namespace dmprof {

class Reader {
 public:
  static Result<Reader> open(const std::string& path);
  // Whether the file's header says that it is a recording, even one that open() refuses (damaged, newer).
  static bool recognises(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  const std::string& path() const;
  // Bytes that the file lacks at its end: a copy that was cut off. What can be read is: scan() and all() leave out
  // chunks that are not whole, the rest fails where it comes to what is missing.
  std::uint64_t missing_bytes() const;
  static std::uint64_t missing_bytes(const std::string& path);

  // --- events
  // ---------------------------------------------------------------------------------------------------------

  // Calls callback(const Chunk<E>&) for every chunk that overlaps `range`, in the order of recording. Whole chunks:
  // rows outside the range may be among them, and rows are not sorted by time. A callback may return void, or bool:
  // false stops. A column that turns out to be damaged reads as zeros inside the callback and makes scan() fail: drop
  // the result then.
  template <class E, class Callback>
  Status scan(TimeRange range, Callback&& callback) const;

  // Calls callback(const E&) for exactly the events that overlap `range`.
  template <class E, class Callback>
  Status for_each(TimeRange range, Callback&& callback) const;

  // The events that overlap `range`, sorted by start. An error, before anything is read, when they would not fit into
  // memory (room.h): a small file can claim any number of events.
  template <class E>
  Result<std::vector<E>> all(TimeRange range = {}) const;

  template <class E>
  Result<std::uint64_t> count() const {
    return count_kind(Describe<E>::kind);
  }

  // Count, duration sum and time bounds by name, from the summaries of the chunks: no column is read.
  template <class E>
  requires HasName<E> Result<std::vector<NameSummary>> by_name()
  const { return names_of_kind(Describe<E>::kind); }

  // Bytes that every event of E takes in memory, by the file's own counts.
  template <class E>
  Result<std::uint64_t> bytes_in_memory() const {
    auto rows = count<E>();
    if (!rows) return rows;
    return *rows > std::numeric_limits<std::uint64_t>::max() / sizeof(E) ? std::numeric_limits<std::uint64_t>::max()
                                                                         : *rows * sizeof(E);
  }
  // Whether so many bytes of events may be held at once; all() asks for itself, callers of several all() for the sum.
  Status check_room(std::uint64_t bytes) const;

  // Bounds and counts of every chunk of E.
  template <class E>
  Result<std::vector<ChunkInfo>> chunks(TimeRange range = {}) const {
    return chunks_of_kind(Describe<E>::kind, range);
  }

  // First start and last end over all event types; empty when nothing was recorded. Clock domains are mixed: see
  // tracks().
  Result<TimeRange> time_bounds() const;

  // --- plain tables
  // ---------------------------------------------------------------------------------------------------

  Result<RunInfo> run() const;
  Result<std::vector<ProcessRow>> processes() const;
  Result<std::vector<ClockRow>> clocks() const;
  Result<std::vector<ClockSync>> clock_syncs() const;
  Result<std::vector<TrackRow>> tracks() const;
  Result<std::vector<CapacityRow>> capacities() const;  // tiers, links, compute units; TierId is `id`
  Result<std::vector<Knob>> knobs() const;  // by process and name, then `since`: the last one is in force at the end
  Result<std::vector<Setting>> environment() const;
  Result<std::vector<Loss>> losses() const;
  Result<std::vector<TrackBalance>> balance() const;  // emitted, lost, recorded per track
  Result<std::vector<std::string>> names() const;     // index = NameId; [0] is ""
  std::string name(NameId id) const;                  // "" for 0, "?" for an id the recording does not hold
  NameId find_name(std::string_view text) const;      // 0 when the recording does not hold it
  // A hash of how much of everything the recording holds: counts, bytes and bounds of chunks, losses, capacities. What
  // was computed from one with another mark was computed from other data.
  Result<std::string> contents_mark() const;
  Result<std::vector<StoredMetric>> metrics() const;
  Result<std::vector<StoredFinding>> findings() const;

 private:
  friend class ChunkSource;
  struct State;
  explicit Reader(std::unique_ptr<State> state);

  Result<std::uint64_t> count_kind(std::uint8_t kind) const;
  Result<std::vector<NameSummary>> names_of_kind(std::uint8_t kind) const;
  Result<std::vector<ChunkInfo>> chunks_of_kind(std::uint8_t kind, TimeRange range) const;
  // Walks the chunks of one kind; `visit` returns false to stop.
  Status walk(std::uint8_t kind, TimeRange range, const std::function<bool(ChunkData&)>& visit) const;

  std::unique_ptr<State> state_;
};

template <class E, class Callback>
Status Reader::scan(TimeRange range, Callback&& callback) const {
  return walk(Describe<E>::kind, range, [&](ChunkData& data) {
    const Chunk<E> chunk(data);
    if constexpr (std::is_same_v<std::invoke_result_t<Callback&, const Chunk<E>&>, bool>) {
      return callback(chunk);
    } else {
      callback(chunk);
      return true;
    }
  });
}

template <class E, class Callback>
Status Reader::for_each(TimeRange range, Callback&& callback) const {
  return scan<E>(range, [&](const Chunk<E>& chunk) {
    const auto rows = chunk.rows();
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const E event = rows[i];
      if (range.overlaps(begin_of(event), end_of(event))) callback(event);
    }
  });
}

template <class E>
Result<std::vector<E>> Reader::all(TimeRange range) const {
  std::vector<E> events;
  const auto chunks = this->template chunks<E>(range);
  if (!chunks) return tl::unexpected(chunks.error());
  std::uint64_t rows = 0;  // a chunk's rows and the number of chunks are bounded: no overflow
  for (const ChunkInfo& chunk : *chunks) rows += chunk.rows;
  DMPROF_TRY(check_room(rows * sizeof(E)));
  events.reserve(static_cast<std::size_t>(rows));  // growing by copying would touch the memory twice
  Status done = for_each<E>(range, [&](const E& event) { events.push_back(event); });
  if (!done) return tl::unexpected(done.error());
  // One thread's events come in order, as most do; sorting the others anyway would take half the time of reading.
  const auto earlier = [](const E& a, const E& b) { return begin_of(a) < begin_of(b); };
  if (!std::is_sorted(events.begin(), events.end(), earlier)) std::stable_sort(events.begin(), events.end(), earlier);
  return events;
}

}  // namespace dmprof
