#include "samples/simcard/core/server.h"

#include <algorithm>

namespace dmprof::simcard {

Server::Server(Simulation& simulation, std::uint32_t units, SimTime turn, std::size_t most_waiting,
               ServerListener* listener)
    : simulation_(simulation),
      turn_(turn),
      most_waiting_(most_waiting),
      listener_(listener),
      running_(std::max(units, 1u)),
      accounted_(simulation.now()) {}

void Server::account() {
  const double passed = seconds(simulation_.now() - accounted_);
  accounted_ = simulation_.now();
  statistics_.observed += passed;
  statistics_.busy += passed * busy_;
  statistics_.waiting += passed * static_cast<double>(queue_.size());
  statistics_.present += passed * (static_cast<double>(queue_.size()) + busy_);
}

ServerStatistics Server::statistics() {
  account();
  return statistics_;
}

bool Server::submit(const Job& job) {
  if (busy_ == running_.size() && queue_.size() >= most_waiting_) return false;
  account();
  ++statistics_.arrived;
  queue_.push_back({job, simulation_.now(), std::max<SimTime>(job.service, 0)});
  start_waiting();
  return true;
}

void Server::start_waiting() {
  for (std::uint32_t i = 0; i < running_.size() && !queue_.empty(); ++i) {
    Unit& unit = running_[i];
    if (unit.busy) continue;
    unit.entry = queue_.front();
    queue_.pop_front();
    unit.start = simulation_.now();
    unit.stretch = turn_ > 0 ? std::min(turn_, unit.entry.left) : unit.entry.left;
    unit.busy = true;
    ++busy_;
    if (listener_ != nullptr) listener_->on_start(unit.entry.job, i, unit.stretch);
    simulation_.after(unit.stretch, *this, 0, i);
  }
}

void Server::on_event(std::uint32_t, std::uint64_t index) {
  account();
  Unit& unit = running_[index];
  unit.busy = false;
  --busy_;
  Entry entry = unit.entry;
  entry.left -= unit.stretch;
  if (listener_ != nullptr) listener_->on_service(entry.job, static_cast<std::uint32_t>(index), unit.start);
  if (entry.left > 0) {
    queue_.push_back(entry);
    start_waiting();
    return;
  }
  ++statistics_.completed;
  statistics_.sojourn += seconds(simulation_.now() - entry.arrived);
  start_waiting();
  entry.job.owner->on_event(entry.job.kind, entry.job.argument);
}

}  // namespace dmprof::simcard
