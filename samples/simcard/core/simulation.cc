#include "samples/simcard/core/simulation.h"

#include <algorithm>

namespace dmprof::simcard {
namespace {

constexpr std::size_t kArity = 4;

}  // namespace

void Simulation::at(SimTime time, Actor& actor, std::uint32_t kind, std::uint64_t argument) {
  if (heap_.size() >= most_pending_) {
    overloaded_ = true;
    return;
  }
  const Event event{std::max(time, now_), sequence_++, &actor, argument, kind};
  std::size_t hole = heap_.size();
  heap_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!event.before(heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = event;
}

Simulation::Event Simulation::take_first() {
  const Event first = heap_.front();
  const Event last = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  if (size == 0) return first;
  std::size_t hole = 0;
  for (;;) {
    const std::size_t child = hole * kArity + 1;
    if (child >= size) break;
    std::size_t least = child;
    const std::size_t end = std::min(child + kArity, size);
    for (std::size_t i = child + 1; i < end; ++i) {
      if (heap_[i].before(heap_[least])) least = i;
    }
    if (!heap_[least].before(last)) break;
    heap_[hole] = heap_[least];
    hole = least;
  }
  heap_[hole] = last;
  return first;
}

Ended Simulation::run(SimTime until) {
  stop_ = false;
  while (!heap_.empty()) {
    if (overloaded_) return Ended::overloaded;
    if (stop_) return Ended::stopped;
    if (heap_.front().time > until) {
      now_ = std::max(now_, until);
      return Ended::time_up;
    }
    const Event event = take_first();
    now_ = event.time;
    ++events_;
    event.actor->on_event(event.kind, event.argument);
  }
  return overloaded_ ? Ended::overloaded : stop_ ? Ended::stopped : Ended::finished;
}

}  // namespace dmprof::simcard
