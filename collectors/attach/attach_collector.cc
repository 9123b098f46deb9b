#include "collectors/attach/attach_collector.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "dmprof/base/process.h"
#include "dmprof/ring/directory.h"

namespace dmprof::attach {
namespace {

constexpr TimeNs sync_interval = 1'000'000'000;
constexpr TimeNs session_scan = 1'000'000;  // the command is about to begin, and waits for us
constexpr TimeNs later_scan = 10'000'000;   // further processes of it wait too, and are rarer
constexpr TimeNs children_scan = 50'000'000;

TimeNs monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<TimeNs>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::string make_session() {
  std::random_device random;
  return std::to_string(::getpid()) + ":" + std::to_string(process_start(::getpid())) + ":" + std::to_string(random());
}

AttachCollector::AttachCollector(AttachOptions options) : options_(std::move(options)), budget_(options_.memory_cap) {}

AttachCollector::~AttachCollector() { (void)stop(); }

Status AttachCollector::start(EventSink& sink) {
  sink_ = &sink;
  std::sort(options_.pids.begin(), options_.pids.end());
  options_.pids.erase(std::unique(options_.pids.begin(), options_.pids.end()), options_.pids.end());
  for (const std::int64_t pid : options_.pids) {
    auto page = find_engine(pid);
    if (!page) return tl::unexpected(page.error());
    Fault fault{};
    DMPROF_TRY(attach(std::move(*page), fault));
  }
  next_sync_ = monotonic_now() + sync_interval;
  return {};
}

Result<AttachCollector::Host*> AttachCollector::host_for(bool tsc) {
  const auto known = hosts_.find(tsc);
  if (known != hosts_.end()) return &known->second;
  Host host;
  host.clock = std::make_unique<HostClock>(tsc);
  const auto domain = sink_->add_clock({"host", ClockKind::monotonic, host.clock->quality()});
  if (!domain) return tl::unexpected(domain.error());
  host.domain = *domain;
  DMPROF_TRY(sink_->add_clock_sync(host.clock->pair(host.domain)));
  return &hosts_.emplace(tsc, std::move(host)).first->second;
}

Status AttachCollector::attach(ring::ControlPage page, Fault& fault) {
  fault = Fault::sink;
  const auto host = host_for(page.identity().tsc);
  if (!host) return tl::unexpected(host.error());
  const SessionOptions options{options_.ring_bytes / sizeof(dmprof_slot), options_.spare_rings};
  auto session = Session::claim(std::move(page), options, budget_, *(*host)->clock, *sink_);
  if (!session) {
    fault = Fault::engine;
    return tl::unexpected(session.error());
  }
  const Status begun = (*session)->begin((*host)->domain);
  if (!begun) {
    if (begun.error().kind == ErrorKind::bad_input) fault = Fault::engine;
    return begun;
  }
  recorded_pids_.insert((*session)->pid());
  sessions_.push_back(std::move(*session));
  ++seen_engines_;
  return {};
}

bool AttachCollector::wanted(const ring::PageIdentity& identity) const {
  if (!options_.session.empty() && identity.session == options_.session) return true;
  return options_.follow_children && recorded_pids_.count(identity.parent_pid) != 0;
}

Status AttachCollector::discover() {
  std::set<std::pair<std::int64_t, std::uint64_t>> present;
  for (const ring::PageName& name : ring::list_pages()) {
    const auto key = std::make_pair(name.pid, name.inode);
    present.insert(key);
    if (examined_.count(key) != 0) continue;
    auto page = ring::open_page(name);
    if (!page) {
      // Not a page: so it stays. All else may pass, a shortage of descriptors for one: look again next time.
      if (page.error().kind != ErrorKind::bad_input) present.erase(key);
      continue;
    }
    if (!wanted(page->identity())) continue;
    if (const Life life = page->life(); life != Life::runs) {
      // A process that /proc does not tell about, but that is there, was not seen for a passing reason.
      if (life == Life::unknown || ::kill(static_cast<pid_t>(name.pid), 0) == 0) present.erase(key);
      continue;
    }
    const bool running =
        std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& s) { return s->pid() == name.pid; });
    if (running) {  // its old page goes first, when its session notices that it was replaced
      present.erase(key);
      continue;
    }
    Fault fault{};
    const Status attached = attach(std::move(*page), fault);
    if (attached) continue;
    if (fault == Fault::sink) return attached;
    problems_.push_back(attached.error().message);  // this engine stays unrecorded: the others go on
  }
  examined_ = std::move(present);
  return {};
}

Result<PollResult> AttachCollector::poll() {
  PollResult result;
  const TimeNs now = monotonic_now();
  const bool searching = !options_.session.empty() || options_.follow_children;
  if (searching && now >= next_discovery_) {
    DMPROF_TRY(discover());
    next_discovery_ = now + (options_.session.empty() ? children_scan : sessions_.empty() ? session_scan : later_scan);
  }
  for (auto& [tsc, host] : hosts_) host.clock->follow();
  for (const auto& session : sessions_) {
    const auto events = session->poll();
    if (events) {
      result.events += *events;
      continue;
    }
    if (events.error().kind != ErrorKind::bad_input) return tl::unexpected(events.error());
    problems_.push_back(events.error().message);  // this engine damaged its page: the others go on
    DMPROF_TRY(session->finish());
  }
  std::erase_if(sessions_, [](const auto& session) { return session->finished(); });
  if (now >= next_sync_) DMPROF_TRY(sync_clocks());
  result.finished = sessions_.empty() && options_.session.empty();
  result.rest = next_rest();
  return result;
}

// Every look costs an engine that uses all processors a little, so a source that hardly fills its rings is left alone
// for longer: at most as long as a ring takes to fill when the fastest emitter (some 30 million slots a second) begins.
std::chrono::microseconds AttachCollector::next_rest() {
  using std::chrono::microseconds;
  constexpr microseconds shortest{1000}, longest{20000};
  const std::uint64_t slots = options_.ring_bytes / sizeof(dmprof_slot);
  std::uint64_t fullest = 0;
  for (const auto& session : sessions_) fullest = std::max(fullest, session->fullest());
  if (fullest > slots / 16) return rest_ = microseconds(0);
  if (sessions_.empty() || fullest > slots / 256) return rest_ = shortest;
  return rest_ = std::clamp(2 * rest_, shortest, longest);
}

Status AttachCollector::sync_clocks() {
  for (auto& [tsc, host] : hosts_) DMPROF_TRY(sink_->add_clock_sync(host.clock->pair(host.domain)));
  next_sync_ = monotonic_now() + sync_interval;
  return {};
}

Status AttachCollector::stop() {
  Status status;
  for (const auto& session : sessions_) {
    const Status finished = session->finish();
    if (!finished && status) status = finished;
  }
  const bool any = !sessions_.empty();
  sessions_.clear();
  if (any && sink_ != nullptr) {
    const Status synced = sync_clocks();
    if (!synced && status) status = synced;
  }
  return status;
}

}  // namespace dmprof::attach
