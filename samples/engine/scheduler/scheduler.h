// Who runs when: requests arrive, wait in order of arrival, are admitted while a slot is free and the concurrency limit
// allows it, and give their slot back when they end. Knows nothing of models or clocks; times are nanoseconds since the
// run's start.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace dmengine {

struct Admission {
  std::size_t request = 0;  // index into the arrival times
  std::uint32_t slot = 0;
};

class Scheduler {
 public:
  // `max_concurrent` 0: as many as there are slots. At least one request runs at a time whatever the limits say.
  Scheduler(std::uint32_t slots, std::uint32_t max_concurrent, const std::vector<std::int64_t>& arrivals);

  // Requests that arrived up to `now` and were not handed out before, in order of arrival (equals: in the caller's
  // order).
  std::vector<std::size_t> take_arrived(std::int64_t now);
  // Waiting requests that may start now, in order of arrival; each takes a slot (the lowest free one).
  std::vector<Admission> admit();
  void release(std::uint32_t slot);
  // Forgets what has not been admitted (the run is being ended).
  void drop_waiting();

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_; }
  bool done() const { return next_ == order_.size() && waiting_.empty() && running_ == 0; }
  std::optional<std::int64_t> next_arrival() const;

 private:
  struct Arrival {
    std::int64_t time;
    std::size_t request;
  };

  std::vector<Arrival> order_;
  std::size_t next_ = 0;
  std::deque<std::size_t> waiting_;
  std::vector<bool> taken_;
  std::size_t running_ = 0;
  std::size_t limit_ = 1;
};

// One sequence's part of a step.
struct Share {
  std::uint32_t prompt_tokens = 0;  // > 0: a chunk of the prompt
  bool last_chunk = false;          // the chunk completes the prompt: a token comes out of this step
};

struct Progress {
  std::uint32_t prompt_left = 0;  // prompt tokens the target has not computed; 0 = decoding
};

// Splits a step's prompt budget over sequences in order of admission: the oldest prompt first, so that it finishes and
// decodes. Decoding sequences always take part; a sequence whose share is no prompt token while prompt is left sits the
// step out.
std::vector<Share> plan_step(const std::vector<Progress>& sequences, std::uint32_t prompt_budget);

}  // namespace dmengine
