// Writes one recording (.dmprof, an SQLite database; every byte is described in FORMAT.md).
//
// Events are collected per type, encoded into columns as they come, and handed as chunks to a thread of the writer's
// own that compresses and commits them: the caller is never held up by the disk unless the queue
// (WriterOptions::queue_bytes) is full. An open chunk is closed when it holds `chunk_rows` events or is
// `flush_interval` old, whichever comes first. Age is looked at in accept() and in flush(): a caller whose stream can
// fall silent calls flush() at least every flush_interval.
//
// What survives: a recorder that is killed loses the open chunk and what the thread has not committed yet (milliseconds
// after the chunk was closed); sync() waits until everything accepted so far is committed. A recording that was not
// finished opens and says so. When the disk is full the writer keeps what was committed, and every later call returns
// that error.
//
// Thread-safety: one thread at a time calls a Writer. Errors: `environment` (cannot create, disk full), `usage`
// (unknown id, finished already).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "dmprof/event/sink.h"

namespace dmprof {

struct WriterOptions {
  std::size_t chunk_rows = 65536;                 // 1 … 1 Mi
  std::chrono::milliseconds flush_interval{200};  // largest age of an open chunk
  int compression = 1;                            // zstd level; negative is faster and larger
  std::size_t queue_bytes = 64U << 20;            // closed chunks that wait for the disk; accept() waits beyond it
  std::uint64_t max_file_bytes = 0;               // 0 = no limit; the recording ends with an error beyond it
  bool overwrite = false;  // replace an existing recording (never another kind of file), write into an empty file
};

class Writer : public EventSink {
 public:
  // Creates the file, readable by its owner only. A missing folder is an error; an error leaves no file behind.
  static Result<std::unique_ptr<Writer>> create(const std::string& path, const WriterOptions& options = {});
  ~Writer() override;  // without finish(): commits what it can, leaves the recording marked as not finished

  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  NameId intern(std::string_view text) override;
  Result<std::uint32_t> add_process(const Process& process) override;
  Result<std::uint32_t> add_clock(const ClockDomain& clock) override;
  Result<TrackId> add_track(const Track& track) override;
  Result<TierId> add_capacity(const Capacity& capacity) override;
  Status add_knob(const Knob& knob) override;
  Status add_clock_sync(const ClockSync& sync) override;
  Status add_loss(const Loss& loss) override;
  Status add_emitted(TrackId track, std::uint64_t events) override;
  Status set_environment(std::string_view key, std::string_view value) override;

  Status accept(std::span<const Event> events) override;
  Status flush() override;  // closes the open chunks and asks for a commit; does not wait for it
  Status sync();            // flush(), then waits until it is committed

  // Last commit, checkpoint, journal_mode=DELETE: one self-contained file. Calls after it fail with `usage`.
  // `reason` is stored with the run: "end of command", "interrupted by the user", …
  Status finish(std::string_view reason = "finished");

  std::uint64_t events_accepted() const;
  std::uint64_t events_committed() const;  // so far; after a failure, what the recording holds
  std::uint64_t bytes_written() const;     // compressed columns handed to SQLite so far
  const std::string& path() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dmprof
