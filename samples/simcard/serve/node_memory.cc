// Admission and preemption: which sequences' caches are in the cards' memory.
#include <algorithm>

#include "samples/simcard/serve/node_run.h"

namespace dmprof::simcard {

double NodeRun::growth() const { return kv_.bytes(spec_.speculation.lookahead + 1); }

// What the next step of all admitted sequences, and `more`, may add to the memory.
double NodeRun::claimed(std::size_t more) const {
  return growth() * static_cast<double>(active_.size() + arriving_ + more);
}

// The prompt is done, or will be with the first step.
void NodeRun::enter(std::uint64_t id) {
  Sequence& s = sequences_[id];
  if (spec_.prefill == Prefill::apart) {  // its cache exists and must lie somewhere
    if (kv_.fits(kv_.bytes(s.length()) + claimed(1)))
      kv_.make(s);
    else if (const auto done = kv_.put_aside(s, simulation_.now()))
      simulation_.at(*done, *this, written, id);
    // else it stays where it was made, until it is admitted
  }
  waiting_.push_back(id);
  // Waiting for all drafts, a newcomer joins between steps; otherwise whenever there is room.
  if (between_steps()) admit();
}

void NodeRun::admit() {
  while (!waiting_.empty() && active_.size() + arriving_ < static_cast<std::size_t>(spec_.most_active)) {
    const std::uint64_t id = waiting_.front();
    Sequence& s = sequences_[id];
    if (s.place == KvPlace::leaving || s.place == KvPlace::passing) return;  // comes back when it is there
    const double needed = s.place == KvPlace::memory ? 0 : kv_.bytes(s.length());
    while (kv_.staying() + needed + claimed(1) > kv_.room() && send_waiting_out(false)) {
    }
    if (!kv_.fits(needed + claimed(1))) return;  // goes on when what leaves has left, or a sequence is done
    waiting_.pop_front();
    if (s.place == KvPlace::stored) {
      ++arriving_;
      simulation_.at(kv_.bring_back(s, simulation_.now()), *this, read, id);
      continue;
    }
    if (s.place == KvPlace::none) kv_.make(s);
    join(id);
  }
}

void NodeRun::join(std::uint64_t id) {
  Sequence& s = sequences_[id];
  if (!s.admitted) measures_.admitted(s, simulation_.now());
  s.admitted = true;
  if (observer() != nullptr) {
    tell(ServeMoment::schedule, id);
    observer()->on_queue(simulation_.now(), active_.size() + 1, waiting_.size());
  }
  active_.push_back(id);
  draft(id);
}

// Before the next step: whatever every sequence in it may add must fit. What is leaving will have left by then, or the
// step waits for it (verify()).
void NodeRun::make_room(std::vector<std::uint64_t>& going) {
  while (!going.empty() && kv_.staying() + claimed(0) > kv_.room()) {
    if (send_waiting_out(true)) continue;
    const auto youngest = std::max_element(going.begin(), going.end(), [&](std::uint64_t a, std::uint64_t b) {
      return std::find(active_.begin(), active_.end(), a) < std::find(active_.begin(), active_.end(), b);
    });
    const std::uint64_t id = *youngest;
    going.erase(youngest);
    preempt(id);
  }
}

// The last of the waiting ones that holds memory gives it up; the first in the queue only if `first_too`, as it is the
// next to be admitted. False: none does.
bool NodeRun::send_waiting_out(bool first_too) {
  const auto end = first_too || waiting_.empty() ? waiting_.rend() : waiting_.rend() - 1;
  const auto last =
      std::find_if(waiting_.rbegin(), end, [&](std::uint64_t id) { return sequences_[id].place == KvPlace::memory; });
  if (last == end) return false;
  Sequence& s = sequences_[*last];
  if (const auto done = kv_.send_out(s, simulation_.now()))
    simulation_.at(*done, *this, written, *last);
  else
    kv_.drop(s);  // the node that made it still has it
  return true;
}

void NodeRun::preempt(std::uint64_t id) {
  Sequence& s = sequences_[id];
  active_.erase(std::find(active_.begin(), active_.end(), id));
  waiting_.push_front(id);
  ++result_.preempted;
  if (const auto done = kv_.send_out(s, simulation_.now())) {
    simulation_.at(*done, *this, written, id);
    if (observer() != nullptr) tell(ServeMoment::preempt, id);
    return;
  }
  if (observer() != nullptr) tell(ServeMoment::preempt, id, static_cast<std::uint64_t>(s.length()));
  kv_.drop(s);
  ++result_.recomputed;
  start_prefill(id);
}

void NodeRun::cache_written(std::uint64_t id) {
  kv_.left(sequences_[id]);
  if (between_steps()) admit();
  verify();
}

void NodeRun::cache_read(std::uint64_t id) {
  kv_.came_back(sequences_[id]);
  --arriving_;
  join(id);
}

}  // namespace dmprof::simcard
