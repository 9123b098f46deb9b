// Records engines that have the SDK: given by pid, or found as descendants of a command (`dmprof run`).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectors/attach/engines.h"
#include "collectors/attach/host_clock.h"
#include "collectors/attach/session.h"
#include "collectors/collector.h"

namespace dmprof::attach {

struct AttachOptions {
  std::vector<std::int64_t> pids;  // start() fails when one of them cannot be recorded
  // Every engine with this DMPROF_CONTROL in its environment is recorded from its first event, whenever it starts.
  std::string session;
  bool follow_children = true;            // also engines whose parent is being recorded
  std::uint64_t ring_bytes = 4u << 20;    // of one thread; rounded up to a power of two
  std::uint64_t memory_cap = 256u << 20;  // of all rings together
  std::uint32_t spare_rings = 4;          // kept ready for threads to come
};

// A value for AttachOptions::session and for DMPROF_CONTROL in the environment of the command to record. It names this
// process, so that an engine stops waiting when the recorder is dead.
std::string make_session();

class AttachCollector final : public Collector {
 public:
  explicit AttachCollector(AttachOptions options);
  ~AttachCollector() override;

  // environment: no such process, not this user's, no SDK in it, recorded by somebody else, or no memory for rings.
  Status start(EventSink& sink) override;
  // `finished` once every engine has ended; never while it records a session, whose end only the caller knows.
  Result<PollResult> poll() override;
  Status stop() override;

  std::size_t engines_seen() const { return seen_engines_; }
  std::size_t engines_running() const { return sessions_.size(); }
  // One line for every engine that was found but could not be recorded.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::chrono::microseconds next_rest();
  struct Host {
    std::unique_ptr<HostClock> clock;
    std::uint32_t domain = 0;
  };
  Result<Host*> host_for(bool tsc);
  enum class Fault { engine, sink };                    // whose an error is
  Status attach(ring::ControlPage page, Fault& fault);  // `fault` is set when it fails
  Status discover();
  bool wanted(const ring::PageIdentity& identity) const;
  Status sync_clocks();

  AttachOptions options_;
  EventSink* sink_ = nullptr;
  ring::MemoryBudget budget_;
  std::map<bool, Host> hosts_;  // by `tsc`
  std::vector<std::unique_ptr<Session>> sessions_;
  std::set<std::int64_t> recorded_pids_;
  std::set<std::pair<std::int64_t, std::uint64_t>> examined_;  // pid and inode of pages that need no second look
  std::vector<std::string> problems_;
  std::size_t seen_engines_ = 0;
  std::chrono::microseconds rest_{1000};
  TimeNs next_discovery_ = 0, next_sync_ = 0;
};

}  // namespace dmprof::attach
