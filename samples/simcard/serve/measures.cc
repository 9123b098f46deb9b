#include "samples/simcard/serve/measures.h"

#include <utility>

namespace dmprof::simcard {

void Measures::account(SimTime now) {
  present_time_ += seconds(now - accounted_) * static_cast<double>(present_);
  accounted_ = now;
}

void Measures::arrived(SimTime now) {
  account(now);
  ++present_;
}

void Measures::emitted(const Sequence& s, std::int64_t tokens, bool measured, SimTime now) {
  if (s.emitted == 0) {
    first_tokens_.push_back(seconds(now - s.arrived));
  } else if (measured) {
    gaps_.push_back(seconds(now - s.last));
    for (std::int64_t i = 1; i < tokens; ++i) gaps_.push_back(0);
  }
  if (measured) measured_tokens_ += static_cast<std::uint64_t>(tokens);
}

void Measures::completed(const Sequence& s, SimTime now) {
  account(now);
  --present_;
  residences_.push_back(seconds(now - s.arrived));
  if (s.emitted > 1) per_token_.push_back(seconds(s.last - s.first) / static_cast<double>(s.emitted - 1));
}

void Measures::step(SimTime began, bool measured, SimTime now) {
  if (measured) {
    step_times_.push_back(seconds(now - began));
    measured_s_ += seconds(now - last_step_);
  }
  last_step_ = now;
}

void Measures::summarize(ServeResult& result, SimTime now) {
  account(now);
  result.seconds = seconds(now);
  result.mean_present = result.seconds > 0 ? present_time_ / result.seconds : 0;
  result.throughput = measured_s_ > 0 ? static_cast<double>(measured_tokens_) / measured_s_ : 0;
  result.step_time = distribution(std::move(step_times_));
  result.queue_wait = distribution(std::move(waits_));
  result.first_token = distribution(std::move(first_tokens_));
  result.token_gap = distribution(std::move(gaps_));
  result.residence = distribution(std::move(residences_));
  result.time_per_token = distribution(std::move(per_token_));
}

}  // namespace dmprof::simcard
