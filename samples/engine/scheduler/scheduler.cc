#include "samples/engine/scheduler/scheduler.h"

#include <algorithm>

namespace dmengine {

Scheduler::Scheduler(std::uint32_t slots, std::uint32_t max_concurrent, const std::vector<std::int64_t>& arrivals)
    : taken_(std::max(slots, 1U), false) {
  limit_ = max_concurrent == 0 ? taken_.size() : std::min<std::size_t>(taken_.size(), max_concurrent);
  order_.reserve(arrivals.size());
  for (std::size_t i = 0; i < arrivals.size(); ++i) order_.push_back({arrivals[i], i});
  std::stable_sort(order_.begin(), order_.end(), [](const Arrival& a, const Arrival& b) { return a.time < b.time; });
}

std::vector<std::size_t> Scheduler::take_arrived(std::int64_t now) {
  std::vector<std::size_t> arrived;
  for (; next_ < order_.size() && order_[next_].time <= now; ++next_) {
    arrived.push_back(order_[next_].request);
    waiting_.push_back(order_[next_].request);
  }
  return arrived;
}

std::vector<Admission> Scheduler::admit() {
  std::vector<Admission> admitted;
  while (!waiting_.empty() && running_ < limit_) {
    const auto free = std::find(taken_.begin(), taken_.end(), false);  // limit_ <= slots: there is one
    *free = true;
    admitted.push_back({waiting_.front(), static_cast<std::uint32_t>(free - taken_.begin())});
    waiting_.pop_front();
    ++running_;
  }
  return admitted;
}

void Scheduler::release(std::uint32_t slot) {
  taken_[slot] = false;
  --running_;
}

void Scheduler::drop_waiting() {
  next_ = order_.size();
  waiting_.clear();
}

std::optional<std::int64_t> Scheduler::next_arrival() const {
  if (next_ == order_.size()) return std::nullopt;
  return order_[next_].time;
}

std::vector<Share> plan_step(const std::vector<Progress>& sequences, std::uint32_t prompt_budget) {
  std::vector<Share> shares(sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    shares[i].prompt_tokens = std::min(sequences[i].prompt_left, prompt_budget);
    shares[i].last_chunk = shares[i].prompt_tokens > 0 && shares[i].prompt_tokens == sequences[i].prompt_left;
    prompt_budget -= shares[i].prompt_tokens;
  }
  return shares;
}

}  // namespace dmengine
