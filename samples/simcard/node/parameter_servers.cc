#include "samples/simcard/node/parameter_servers.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "samples/simcard/core/random.h"
#include "samples/simcard/core/server.h"

namespace dmprof::simcard {
namespace {

class Cluster : public Actor {
 public:
  Cluster(const ErasureCode& code, const ServerReads& reads, std::uint64_t seed)
      : code_(code),
        reads_(reads),
        random_(seed, "parameter servers"),
        pending_(static_cast<std::size_t>(reads.reads)) {
    for (std::int64_t s = 0; s < code.servers(); ++s) servers_.push_back(std::make_unique<Server>(simulation_, 1));
    simulation_.at(0, *this, arrive);
  }

  ReadResult run() {
    simulation_.run();
    ReadResult result;
    std::sort(times_.begin(), times_.end());
    for (const double t : times_) result.mean += t / static_cast<double>(times_.size());
    result.p99 = times_[(times_.size() * 99 + 99) / 100 - 1];  // nearest rank
    for (auto& server : servers_) {
      const ServerStatistics s = server->statistics();
      result.utilization = std::max(result.utilization, s.observed > 0 ? s.busy / s.observed : 0);
    }
    result.bytes = static_cast<double>(sent_) * reads_.fragment_bytes;
    result.amplification = static_cast<double>(sent_) / static_cast<double>(reads_.reads);
    // Arrivals are over and the work still took much longer: the queue grew all the time.
    result.overloaded = seconds(simulation_.now()) > 1.05 * static_cast<double>(reads_.reads) / reads_.rate;
    return result;
  }

  void on_event(std::uint32_t kind, std::uint64_t read) override {
    if (kind == arrive) {
      issue();
      if (issued_ < reads_.reads) simulation_.after(from_seconds(random_.exponential(1 / reads_.rate)), *this, arrive);
    } else if (kind == sent) {
      simulation_.after(from_seconds(reads_.link.latency), *this, received, read);
    } else if (--pending_[read].left == 0) {
      times_.push_back(seconds(simulation_.now() - pending_[read].start));
    }
  }

 private:
  enum : std::uint32_t { arrive, sent, received };
  struct Read {
    SimTime start = 0;
    std::int64_t left = 0;
  };

  void ask(std::int64_t server, std::uint64_t read) {
    ++sent_;
    ++pending_[read].left;
    servers_[static_cast<std::size_t>(server)]->submit(
        {time_for(reads_.fragment_bytes, reads_.link.bandwidth), this, sent, read});
  }

  void issue() {
    const auto read = static_cast<std::uint64_t>(issued_++);
    pending_[read].start = simulation_.now();
    const auto home = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(code_.data)));
    if (home >= reads_.down) return ask(home, read);
    // Survivors in a rotating order, so that repair load spreads. A local group rebuilds from its own members and
    // parity.
    std::int64_t needed = code_.repair_reads();
    const bool local = code_.groups > 0 && reads_.down == 1;
    if (!local) needed = code_.data;
    const std::int64_t size = local ? code_.data / code_.groups : 0;
    const std::int64_t offset = issued_ % code_.servers();
    for (std::int64_t i = 0; i < code_.servers() && needed > 0; ++i) {
      const std::int64_t s = (i + offset) % code_.servers();
      if (s < reads_.down) continue;
      if (local && !(s / size == home / size && s < code_.data) && s != code_.data + home / size) continue;
      ask(s, read);
      --needed;
    }
  }

  ErasureCode code_;
  ServerReads reads_;
  Simulation simulation_;
  Random random_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<Read> pending_;
  std::vector<double> times_;
  std::int64_t issued_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace

ReadResult simulate_reads(const ErasureCode& code, const ServerReads& reads, std::uint64_t seed) {
  return Cluster(code, reads, seed).run();
}

}  // namespace dmprof::simcard
