#include "samples/simcard/card/feed.h"

namespace dmprof::simcard {
namespace {

std::int64_t now_ns(const Simulation& simulation) { return static_cast<std::int64_t>(nanoseconds(simulation.now())); }

std::uint32_t tokens(std::int64_t count) { return static_cast<std::uint32_t>(count); }  // check() bounds it

}  // namespace

Feed::Feed(Simulation& simulation, workload::Source source, Card& card)
    : simulation_(simulation), source_(std::move(source)), card_(card) {}

void Feed::begin() {
  next_ = source_.next();
  send_due();
}

void Feed::send(std::uint32_t prompt, std::uint32_t output) {
  if (!card_.submit(prompt, output, this, ended)) {
    overrun_ = true;
    simulation_.stop();
  }
}

void Feed::send_due() {
  while (next_ && !overrun_ && from_nanoseconds(next_->arrival_ns) <= simulation_.now()) {
    send(tokens(next_->prompt_tokens), tokens(next_->output_tokens));
    next_ = source_.next();
  }
  if (next_ && !overrun_) simulation_.at(from_nanoseconds(next_->arrival_ns), *this, arrived);
}

void Feed::on_event(std::uint32_t kind, std::uint64_t argument) {
  if (kind == arrived) return send_due();
  if (kind == thought) return send(static_cast<std::uint32_t>(argument >> 32), static_cast<std::uint32_t>(argument));
  const std::optional<workload::Request> again = source_.after_completion(now_ns(simulation_));
  if (!again || overrun_) return;
  if (from_nanoseconds(again->arrival_ns) <= simulation_.now())
    return send(tokens(again->prompt_tokens), tokens(again->output_tokens));
  simulation_.at(from_nanoseconds(again->arrival_ns), *this, thought,
                 static_cast<std::uint64_t>(again->prompt_tokens) << 32 | tokens(again->output_tokens));
}

}  // namespace dmprof::simcard
