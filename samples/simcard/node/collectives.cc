#include "samples/simcard/node/collectives.h"

#include <algorithm>
#include <memory>

#include "samples/simcard/core/server.h"

namespace dmprof::simcard {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

// One outgoing wire a rank. A message occupies its wire for size / bandwidth and arrives a latency later.
class Wires {
 public:
  Wires(Simulation& simulation, std::int64_t ranks, const Link& link) : link_(link) {
    for (std::int64_t r = 0; r < ranks; ++r) wires_.push_back(std::make_unique<Server>(simulation, 1));
  }
  void send(std::int64_t from, double bytes, Actor& owner, std::uint64_t argument) {
    wires_[static_cast<std::size_t>(from)]->submit({time_for(bytes, link_.bandwidth), &owner, 0, argument});
  }
  SimTime latency() const { return from_seconds(link_.latency); }

 private:
  Link link_;
  std::vector<std::unique_ptr<Server>> wires_;
};

// Every rank passes a chunk of bytes/R on to its neighbour as soon as it has received and may forward it: 2
// rounds.
class Ring : public Actor {
 public:
  Ring(Simulation& simulation, std::int64_t ranks, double bytes, const Link& link)
      : simulation_(simulation), ranks_(ranks), chunk_(bytes / real(ranks)), wires_(simulation, ranks, link) {
    for (std::int64_t r = 0; r < ranks_; ++r) send(r, 0);
  }
  void on_event(std::uint32_t kind, std::uint64_t argument) override {
    if (kind == 0) {  // left the wire
      simulation_.after(wires_.latency(), *this, 1, argument);
      return;
    }
    const auto rounds = static_cast<std::uint64_t>(2 * (ranks_ - 1));
    const std::uint64_t round = argument / static_cast<std::uint64_t>(ranks_) + 1;
    const std::int64_t receiver =
        (static_cast<std::int64_t>(argument % static_cast<std::uint64_t>(ranks_)) + 1) % ranks_;
    if (round < rounds) send(receiver, round);
  }

 private:
  void send(std::int64_t from, std::uint64_t round) {
    wires_.send(from, chunk_, *this, round * static_cast<std::uint64_t>(ranks_) + static_cast<std::uint64_t>(from));
  }
  Simulation& simulation_;
  std::int64_t ranks_;
  double chunk_;
  Wires wires_;
};

// Messages leave and arrive at once (a cut-through network); they queue at the receiver's wire, so a popular rank ends
// last. In each step every rank sends to another one, which keeps senders from being a bottleneck.
class AllToAll : public Actor {
 public:
  AllToAll(Simulation& simulation, std::int64_t ranks, double bytes, const Link& link,
           const std::vector<double>& received)
      : simulation_(simulation),
        ranks_(ranks),
        bytes_(bytes),
        received_(received),
        in_(simulation, ranks, link),
        latency_(in_.latency()) {
    for (std::int64_t step = 1; step < ranks_; ++step) {
      for (std::int64_t from = 0; from < ranks_; ++from) {
        const std::int64_t to = (from + step) % ranks_;
        in_.send(to, bytes_ * received_[static_cast<std::size_t>(to)], *this, 0);
      }
    }
  }
  void on_event(std::uint32_t kind, std::uint64_t) override {
    if (kind == 0) simulation_.after(latency_, *this, 1);
  }

 private:
  Simulation& simulation_;
  std::int64_t ranks_;
  double bytes_;
  const std::vector<double>& received_;
  Wires in_;
  SimTime latency_;
};

class Pipeline : public Actor {
 public:
  Pipeline(Simulation& simulation, std::int64_t stages, std::int64_t micro_batches, double stage_time, double hop)
      : simulation_(simulation), stage_(from_seconds(stage_time)), hop_(from_seconds(hop)) {
    for (std::int64_t s = 0; s < stages; ++s) stages_.push_back(std::make_unique<Server>(simulation, 1));
    for (std::int64_t m = 0; m < micro_batches; ++m) stages_[0]->submit({stage_, this, 0, 0});
  }
  void on_event(std::uint32_t kind, std::uint64_t stage) override {
    if (kind == 1) {
      stages_[stage]->submit({stage_, this, 0, stage});
    } else if (stage + 1 < stages_.size()) {
      simulation_.after(hop_, *this, 1, stage + 1);
    }
  }

 private:
  Simulation& simulation_;
  SimTime stage_, hop_;
  std::vector<std::unique_ptr<Server>> stages_;
};

}  // namespace

double ring_all_reduce_bytes(std::int64_t ranks, double bytes) {
  return ranks < 2 ? 0 : 2 * real(ranks - 1) / real(ranks) * bytes;
}

double ring_all_reduce(std::int64_t ranks, double bytes, const Link& link) {
  if (ranks < 2) return 0;
  return ring_all_reduce_bytes(ranks, bytes) / link.bandwidth + 2 * real(ranks - 1) * link.latency;
}

double all_to_all(std::int64_t ranks, double bytes, const Link& link, double imbalance) {
  if (ranks < 2) return 0;
  return imbalance * bytes * (1 - 1 / real(ranks)) / link.bandwidth + link.latency;
}

double simulate_ring_all_reduce(std::int64_t ranks, double bytes, const Link& link) {
  if (ranks < 2) return 0;
  Simulation simulation;
  Ring ring(simulation, ranks, bytes, link);
  simulation.run();
  return seconds(simulation.now());
}

double simulate_all_to_all(std::int64_t ranks, double bytes, const Link& link, const std::vector<double>& received) {
  if (ranks < 2) return 0;
  Simulation simulation;
  AllToAll exchange(simulation, ranks, bytes, link, received);
  simulation.run();
  return seconds(simulation.now());
}

double pipeline_bubble(std::int64_t stages, std::int64_t micro_batches) {
  return real(stages - 1) / real(micro_batches + stages - 1);
}

double simulate_pipeline(std::int64_t stages, std::int64_t micro_batches, double stage_time, double hop) {
  Simulation simulation;
  Pipeline pipeline(simulation, stages, micro_batches, stage_time, hop);
  simulation.run();
  return seconds(simulation.now());
}

}  // namespace dmprof::simcard
