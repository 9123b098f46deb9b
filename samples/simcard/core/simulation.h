// The event queue of a discrete-event simulation. Events run in order of time; equal times in order of scheduling, so
// that a run is the same on every machine. One simulation belongs to one thread.
//
// An event is a fixed-size record (no allocation, no std::function): an actor, a kind and an argument, both the actor's
// business. The queue is a 4-ary heap: shallower than a binary one and kind to the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "samples/simcard/core/time.h"

namespace dmprof::simcard {

// Something that events happen to. It must outlive the events that it scheduled.
class Actor {
 public:
  virtual ~Actor() = default;
  virtual void on_event(std::uint32_t kind, std::uint64_t argument) = 0;
};

enum class Ended : std::uint8_t {
  finished,    // no event is left
  time_up,     // the next event lies beyond `until`; the clock stands at `until`
  overloaded,  // more events were pending than the limit allows: something never drains
  stopped,     // stop() was called
};

class Simulation {
 public:
  // Pending events are bounded: a model that piles up work without end is stopped with a verdict, not by the machine.
  explicit Simulation(std::size_t most_pending = 1 << 22) : most_pending_(most_pending) {}

  SimTime now() const { return now_; }
  std::uint64_t events() const { return events_; }  // run so far
  std::size_t pending() const { return heap_.size(); }

  // A time before now() is taken as now(); one beyond what 64 bits hold never comes.
  void at(SimTime time, Actor& actor, std::uint32_t kind, std::uint64_t argument = 0);
  void after(SimTime delay, Actor& actor, std::uint32_t kind, std::uint64_t argument = 0) {
    at(delay > kForever - now_ ? kForever : now_ + delay, actor, kind, argument);
  }

  // Runs events with time <= until. May be called again to go on.
  Ended run(SimTime until = kForever);
  // Ends run() after the current event.
  void stop() { stop_ = true; }

 private:
  struct Event {
    SimTime time;
    std::uint64_t sequence;
    Actor* actor;
    std::uint64_t argument;
    std::uint32_t kind;
    bool before(const Event& other) const { return time != other.time ? time < other.time : sequence < other.sequence; }
  };

  Event take_first();

  std::vector<Event> heap_;
  std::size_t most_pending_;
  SimTime now_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t events_ = 0;
  bool stop_ = false;
  bool overloaded_ = false;
};

}  // namespace dmprof::simcard
