#include "samples/simcard/node/pool.h"

#include <algorithm>
#include <vector>

#include "samples/simcard/core/random.h"
#include "samples/simcard/core/server.h"

namespace dmprof::simcard {
namespace {

double unit_bandwidth(const Pool& pool) {
  const double packed = pool.link.bandwidth * pool.compression;
  return pool.decompression > 0 ? std::min(packed, pool.decompression) : packed;
}

class Reads : public Actor {
 public:
  Reads(const Pool& pool, const PoolLoad& load, std::uint64_t seed)
      : pool_(pool),
        load_(load),
        random_(seed, "pool"),
        server_(simulation_, static_cast<std::uint32_t>(pool.units)),
        demanded_(static_cast<std::size_t>(load.reads), 0) {
    SimTime at = from_seconds(load.lead);
    for (std::size_t i = 0; i < demanded_.size(); ++i) {
      demanded_[i] = at;
      const bool predicted = random_.chance(load.accuracy);
      const SimTime ask = predicted ? std::max<SimTime>(0, at - from_seconds(load.lead)) : at;
      simulation_.at(ask, *this, ask_kind, i);
      if (!predicted && load.accuracy > 0)
        simulation_.at(std::max<SimTime>(0, at - from_seconds(load.lead)), *this, waste_kind, i);
      at += from_seconds(random_.exponential(1 / load.rate));
    }
  }

  PoolResult run() {
    simulation_.run();
    PoolResult result;
    const auto reads = static_cast<double>(load_.reads);
    result.mean_wait = waited_ / reads;
    result.on_time = static_cast<double>(on_time_) / reads;
    const ServerStatistics s = server_.statistics();
    result.utilization = s.observed > 0 ? s.busy / (s.observed * static_cast<double>(pool_.units)) : 0;
    result.moved_bytes = static_cast<double>(issued_) * load_.block_bytes / pool_.compression;
    result.asked_bytes = reads * load_.block_bytes;
    return result;
  }

  void on_event(std::uint32_t kind, std::uint64_t read) override {
    if (kind == ask_kind || kind == waste_kind) {
      ++issued_;
      const SimTime service = time_for(load_.block_bytes, unit_bandwidth(pool_));
      server_.submit({service, this, kind == ask_kind ? sent_kind : wasted_kind, read});
    } else if (kind == sent_kind) {
      simulation_.after(from_seconds(pool_.link.latency), *this, here_kind, read);
    } else if (kind == here_kind) {
      const SimTime late = simulation_.now() - demanded_[read];
      if (late > 0)
        waited_ += seconds(late);
      else
        ++on_time_;
    }
  }

 private:
  enum : std::uint32_t { ask_kind, waste_kind, sent_kind, wasted_kind, here_kind };
  Pool pool_;
  PoolLoad load_;
  Simulation simulation_;
  Random random_;
  Server server_;
  std::vector<SimTime> demanded_;
  double waited_ = 0;
  std::uint64_t issued_ = 0, on_time_ = 0;
};

}  // namespace

PoolResult simulate_pool(const Pool& pool, const PoolLoad& load, std::uint64_t seed) {
  return Reads(pool, load, seed).run();
}

double pool_bandwidth(const Pool& pool) { return static_cast<double>(pool.units) * unit_bandwidth(pool); }

}  // namespace dmprof::simcard
