#include "collectors/attach/session.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "dmprof/base/process.h"

namespace dmprof::attach {
namespace {

constexpr std::uint64_t chunk_slots = 8192;  // 256 KiB: fits the second-level cache
constexpr std::size_t batch_events = 4096;
constexpr TimeNs check_interval = 10'000'000;
constexpr TimeNs tell_interval = 1'000'000'000;

}  // namespace

Result<std::unique_ptr<Session>> Session::claim(ring::ControlPage page, const SessionOptions& options,
                                                ring::MemoryBudget& budget, HostClock& clock, EventSink& sink) {
  DMPROF_TRY(page.lock());
  std::unique_ptr<Session> session(new Session(std::move(page), clock, sink));
  session->options_ = options;
  const auto counts = session->page_.counts();
  if (!counts) return tl::unexpected(counts.error());
  session->untracked_ = session->untracked_before_ = counts->untracked;
  DMPROF_TRY(session->page_.tracks(counts->tracks, session->entries_));
  const auto threads =
      std::count_if(session->entries_.begin(), session->entries_.end(),
                    [](const dmprof_track_entry& e) { return e.state == DMPROF_TRACK_LIVE && e.thread_id != 0; });
  session->next_generation_ = session->page_.next_generation();
  auto arena = ring::Arena::make(options.ring_slots, static_cast<std::uint32_t>(threads) + options.spare_rings,
                                 session->next_generation_, budget);
  if (!arena) return tl::unexpected(arena.error());
  session->arena_ = std::move(*arena);
  return session;
}

Status Session::begin(std::uint32_t host_domain) {
  DMPROF_TRY(introduce(host_domain));
  generation_ = next_generation_;
  return page_.announce(generation_, arena_->path(), arena_->bytes());
}

Result<std::uint64_t> Session::poll() {
  if (finished_) return 0;
  const std::uint64_t before = handed_over_;
  fullest_ = 0;
  DMPROF_TRY(refresh());
  // Tracks that had ended before this drain have all their slots in it.
  std::vector<std::uint16_t> ended;
  for (const auto& [index, account] : accounts_) {
    // A hostile page may lower its track count after tracks were taken in.
    if (index < entries_.size() && entries_[index].state == DMPROF_TRACK_ENDED) ended.push_back(index);
  }
  const auto drained = drain();
  if (!drained) return tl::unexpected(drained.error());
  for (const std::uint16_t index : ended) {
    DMPROF_TRY(settle(index, "detached"));
    DMPROF_TRY(page_.free_track(index));
  }
  const std::uint32_t idle = arena_->free_rings();
  if (idle < options_.spare_rings) arena_->grow(options_.spare_rings - idle);
  const TimeNs now = clock_.now();
  if (now >= next_tell_) {
    next_tell_ = now + tell_interval;
    for (auto& [index, account] : accounts_) DMPROF_TRY(tell(account));
  }
  if (now >= next_check_) {
    next_check_ = now + check_interval;
    if (engine_ended()) DMPROF_TRY(finish());
  }
  return handed_over_ - before;
}

bool Session::engine_ended() {
  const ring::PageIdentity& identity = page_.identity();
  if (!is_alive(identity.pid, identity.start_time)) return true;
  if (page_.in_place()) return false;
  // The engine has withdrawn its page or begun anew; or somebody else removed the file, a cleaner of /tmp say, which
  // the engine has still mapped and reads.
  return page_.replaced() || !page_.alive();
}

Result<std::uint64_t> Session::drain() {
  const std::uint64_t before = handed_over_;
  for (std::uint32_t ring = 0; ring < arena_->rings(); ++ring) {
    const bool ended = arena_->ended(ring);
    DMPROF_TRY(drain_ring(ring));
    if (ended) arena_->recycle(ring);
  }
  DMPROF_TRY(hand_over());
  return handed_over_ - before;
}

Status Session::drain_ring(std::uint32_t ring) {
  std::uint64_t left = arena_->waiting(ring);
  fullest_ = std::max(fullest_, left);
  while (left != 0) {
    const std::uint64_t chunk = std::min(left, chunk_slots);
    arena_->copy(ring, chunk, slots_);
    DMPROF_TRY(refresh());  // after the copy: whatever these slots refer to is in the tables now
    const std::size_t consumed = decoder_.decode(slots_, chunk == left, events_);
    arena_->consume(ring, consumed);
    left -= consumed;
    if (events_.size() >= batch_events) DMPROF_TRY(hand_over());
  }
  return {};
}

Status Session::hand_over() {
  if (events_.empty()) return {};
  const Status accepted = sink_.accept(events_);
  handed_over_ += events_.size();
  events_.clear();
  return accepted;
}

Status Session::finish() {
  if (finished_) return {};
  finished_ = true;
  const bool died = !is_alive(page_.identity().pid, page_.identity().start_time);
  // Through the open file, whatever became of its name: an engine that still has it mapped must not wait for us. A page
  // that cannot be written has no reader either.
  (void)page_.withdraw();
  // A thread may be between looking at `active` and counting its event: go on until nothing has moved for a while.
  Status status;
  std::uint64_t previous = ~0ull;
  for (int round = 0, quiet = 0; round < 100 && quiet < (died ? 1 : 4); ++round) {
    const auto drained = drain();
    // A page that the engine has damaged was reported by poll(); what is known is settled all the same.
    if (!drained && drained.error().kind != ErrorKind::bad_input) status = tl::unexpected(drained.error());
    if (!drained || !refresh()) break;
    std::uint64_t sum = 0;
    for (const auto& [index, account] : accounts_) sum += account.emitted;
    quiet = *drained == 0 && sum == previous ? quiet + 1 : 0;
    previous = sum;
    if (!died) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  while (!accounts_.empty()) {
    const Status settled = settle(accounts_.begin()->first, died ? "engine_died" : "detached");
    if (!settled && status) status = settled;
  }
  const Status untracked = settle_untracked();
  arena_.reset();
  return !status ? status : untracked;
}

}  // namespace dmprof::attach
