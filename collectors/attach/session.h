// One attached engine: its page, its rings, its tracks and its loss accounts.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collectors/attach/host_clock.h"
#include "dmprof/decode/decoder.h"
#include "dmprof/event/sink.h"
#include "dmprof/ring/arena.h"
#include "dmprof/ring/page.h"

namespace dmprof::attach {

struct SessionOptions {
  std::uint64_t ring_slots = 0;
  std::uint32_t spare_rings = 4;  // rings kept ready for threads that have none yet
};

class Session {
 public:
  // Locks the engine and makes its rings. Every error is about this engine. What is passed in must outlive the session.
  static Result<std::unique_ptr<Session>> claim(ring::ControlPage page, const SessionOptions& options,
                                                ring::MemoryBudget& budget, HostClock& clock, EventSink& sink);
  // Tells the sink about the engine and announces the rings. bad_input: the engine's page; all else is the sink's.
  Status begin(std::uint32_t host_domain);

  std::int64_t pid() const { return page_.identity().pid; }
  bool finished() const { return finished_; }

  // Drains every ring and hands the events to the sink; notices that the engine ended and settles then. Returns events.
  Result<std::uint64_t> poll();
  // Slots that the fullest ring held when the last poll() began: says how soon to come again.
  std::uint64_t fullest() const { return fullest_; }
  // Detaches (or notes that the engine died), drains until nothing moves, and settles every account.
  Status finish();

 private:
  // What the sink has been told of one track so far; the rest is told once a second and when the track ends.
  struct Account {
    TrackId track = 0;
    std::uint32_t incarnation = 0;
    std::uint64_t emitted = 0;  // last reading of the engine's own count
    std::uint64_t emitted_told = 0;
    std::uint64_t open = 0;  // spans and phases begun and not ended
    std::array<std::uint64_t, DMPROF_LOSS_CAUSES> lost{}, lost_told{};
  };

  Session(ring::ControlPage page, HostClock& clock, EventSink& sink)
      : page_(std::move(page)), clock_(clock), sink_(sink) {}

  // session_tables.cc: what the engine says about itself.
  Status introduce(std::uint32_t host_domain);
  Status refresh();  // names, clocks, knobs, capacities and tracks that are new
  Status refresh_knobs(std::uint32_t count);
  Status refresh_capacities(std::uint32_t count);
  Status meet_tracks(std::uint32_t count);

  // session_accounts.cc: emitted = recorded + lost.
  static void read_account(Account& account, const dmprof_track_entry& entry);
  Status tell(Account& account);
  Status settle(std::uint16_t index, const char* remainder_cause);
  Status settle_untracked();

  Result<std::uint64_t> drain();
  Status drain_ring(std::uint32_t ring);
  Status hand_over();
  bool engine_ended();

  ring::ControlPage page_;
  HostClock& clock_;
  EventSink& sink_;
  SessionOptions options_;
  std::unique_ptr<ring::Arena> arena_;
  std::uint32_t generation_ = 0, next_generation_ = 0;
  std::uint32_t process_ = 0;
  std::vector<std::uint32_t> domains_;  // by the engine's clock id
  const decode::ClockMap own_clock_;    // the identity: clocks of the engine count nanoseconds
  decode::Decoder decoder_;
  std::map<std::uint16_t, Account> accounts_;  // by index of the track table
  std::vector<dmprof_track_entry> entries_;
  std::vector<dmprof_slot> slots_;
  std::vector<Event> events_;
  std::uint64_t handed_over_ = 0;
  std::vector<ring::PageKnob> knobs_;  // as last told
  std::uint32_t table_version_ = 0;
  bool tables_pending_ = true;  // never read, or an entry was being written
  std::uint64_t untracked_ = 0, untracked_before_ = 0;
  TimeNs next_check_ = 0, next_tell_ = 0;
  std::uint64_t fullest_ = 0;
  bool finished_ = false;
};

}  // namespace dmprof::attach
