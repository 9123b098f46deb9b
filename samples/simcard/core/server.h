// A queue with c equal servers: speculation engines, DMA channels, links. First come, first served; with a turn length
// the servers take turns: after that much service a job goes back to the end of the queue. Statistics are integrals
// over time, so that Little's law and Erlang C can be checked on every run.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "samples/simcard/core/simulation.h"

namespace dmprof::simcard {

struct Job {
  SimTime service = 0;
  Actor* owner = nullptr;  // told on_event(kind, argument) when all service is done
  std::uint32_t kind = 0;
  std::uint64_t argument = 0;
};

struct ServerStatistics {
  std::uint64_t arrived = 0, completed = 0;
  double busy = 0;      // server-seconds
  double waiting = 0;   // job-seconds in the queue
  double present = 0;   // job-seconds in queue and service
  double sojourn = 0;   // seconds from arrival to completion, summed over completed jobs
  double observed = 0;  // seconds covered by the integrals
};

class ServerListener {
 public:
  virtual ~ServerListener() = default;
  // A stretch of service (a whole job, or a turn) ended now on server `unit`.
  virtual void on_service(const Job& job, std::uint32_t unit, SimTime start) = 0;
  // A stretch of that length starts now.
  virtual void on_start(const Job& /*job*/, std::uint32_t /*unit*/, SimTime /*length*/) {}
};

class Server : public Actor {
 public:
  // A turn of 0: a job runs to its end. At most `most_waiting` jobs wait; submit() refuses more.
  Server(Simulation& simulation, std::uint32_t units, SimTime turn = 0, std::size_t most_waiting = SIZE_MAX,
         ServerListener* listener = nullptr);

  bool submit(const Job& job);
  void set_turn(SimTime turn) { turn_ = turn; }  // from the next stretch on

  std::uint32_t units() const { return static_cast<std::uint32_t>(running_.size()); }
  std::uint32_t busy() const { return busy_; }
  std::size_t waiting() const { return queue_.size(); }
  ServerStatistics statistics();  // as of now

  void on_event(std::uint32_t kind, std::uint64_t unit) override;

 private:
  struct Entry {
    Job job;
    SimTime arrived = 0, left = 0;
  };
  struct Unit {
    Entry entry;
    SimTime start = 0, stretch = 0;
    bool busy = false;
  };

  void account();
  void start_waiting();

  Simulation& simulation_;
  SimTime turn_;
  std::size_t most_waiting_;
  ServerListener* listener_;
  std::deque<Entry> queue_;
  std::vector<Unit> running_;
  std::uint32_t busy_ = 0;
  SimTime accounted_ = 0;
  ServerStatistics statistics_;
};

}  // namespace dmprof::simcard
