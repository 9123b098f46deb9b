#include "dmprof/workload/arrivals.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dmprof::workload {
namespace {

constexpr double ns_per_s = 1e9;
constexpr double last_second = 9e9;  // int64 nanoseconds end at 9.2e9 s

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(std::clamp(seconds, 0.0, last_second) * ns_per_s);
}

tl::unexpected<Error> impossible(const char* what, double value, const char* range) {
  return fail(ErrorKind::bad_input, fmt::format("{} of {} is not possible; write {}", what, value, range));
}

}  // namespace

Status Arrivals::check() const {
  if (kind == Kind::closed_loop) {
    if (users < 1 || users > 1'000'000)
      return impossible("a number of users", static_cast<double>(users), "1 to 1000000");
    if (!(think_s >= 0) || think_s > 1e6) return impossible("a think time", think_s, "0s to 1e6s");
    return {};
  }
  if (kind == Kind::trace) return {};
  if (kind == Kind::bursts) {
    if (burst < 1 || burst > 1'000'000)
      return impossible("a burst", static_cast<double>(burst), "1 to 1000000 requests");
    if (!(period_s >= 1e-6) || period_s > 1e6) return impossible("a period", period_s, "1us to 1e6s");
    return {};
  }
  if (!(rate > 0) || rate > 1e9) return impossible("a rate", rate, "a number above 0, at most 1e9 a second");
  if (kind == Kind::poisson) return {};
  if (!(burst_factor >= 1) || burst_factor > 1e6) return impossible("a burst factor", burst_factor, "1 or more");
  if (!(burst_share > 0) || burst_share >= 1)
    return impossible("a burst share", burst_share, "a share between 0 and 1");
  if (burst_factor * burst_share > 1)
    return impossible("burst factor x share", burst_factor * burst_share,
                      "a product of at most 1, or the calm rate is negative");
  if (!(burst_s > 0) || burst_s > 1e6) return impossible("a burst length", burst_s, "a duration above 0");
  return {};
}

Source::Source(Arrivals arrivals, Lengths prompts, Lengths outputs, std::uint64_t seed)
    : arrivals_(arrivals), prompts_(prompts), outputs_(outputs), gaps_(seed), lengths_(seed ^ 0x6c656e6774687321ULL) {
  // It is looked at from some moment on, not from the beginning of a burst. (A state ends before it begins: left is 0.)
  if (arrivals_.kind == Arrivals::Kind::bursty) in_burst_ = !gaps_.chance(arrivals_.burst_share);
}

Source::Source(std::vector<Request> trace, double speed)
    : gaps_(0), lengths_(0), trace_(std::move(trace)), speed_(speed > 0 ? speed : 1) {
  arrivals_.kind = Arrivals::Kind::trace;
}

Request Source::drawn(std::int64_t arrival_ns) {
  Request request;
  request.arrival_ns = arrival_ns;
  request.prompt_tokens = prompts_.draw(lengths_);
  request.output_tokens = outputs_.draw(lengths_);
  return request;
}

// The exponential gap is spent across the states of the modulated process: hazard is rate x time in each state.
double Source::next_gap_s() {
  double hazard = gaps_.exponential(1);
  if (arrivals_.kind == Arrivals::Kind::poisson) return hazard / arrivals_.rate;
  const double calm_rate =
      arrivals_.rate * (1 - arrivals_.burst_factor * arrivals_.burst_share) / (1 - arrivals_.burst_share);
  const double calm_s = arrivals_.burst_s * (1 - arrivals_.burst_share) / arrivals_.burst_share;
  double gap = 0;
  for (;;) {
    if (state_left_s_ <= 0) {
      in_burst_ = !in_burst_;
      state_left_s_ = gaps_.exponential(in_burst_ ? arrivals_.burst_s : calm_s);
    }
    const double rate = in_burst_ ? arrivals_.rate * arrivals_.burst_factor : calm_rate;
    if (rate * state_left_s_ >= hazard && rate > 0) {
      state_left_s_ -= hazard / rate;
      return gap + hazard / rate;
    }
    hazard -= rate * state_left_s_;
    gap += state_left_s_;
    state_left_s_ = 0;
  }
}

std::int64_t Source::next_burst_ns() const {
  const auto burst = static_cast<std::size_t>(arrivals_.burst), round = issued_ / (burst + 1);
  const double half = issued_ % (burst + 1) < burst ? 0 : 0.5;  // the last of a round comes alone
  return nanoseconds((static_cast<double>(round) + half) * arrivals_.period_s);
}

std::optional<Request> Source::next() {
  if (arrivals_.kind == Arrivals::Kind::trace) {
    if (issued_ == trace_.size()) return std::nullopt;
    Request request = trace_[issued_++];
    request.arrival_ns = nanoseconds(static_cast<double>(request.arrival_ns) / ns_per_s / speed_);
    return request;
  }
  if (arrivals_.kind == Arrivals::Kind::closed_loop) {
    if (issued_ == static_cast<std::size_t>(arrivals_.users)) return std::nullopt;
    ++issued_;
    return drawn(0);
  }
  if (arrivals_.kind == Arrivals::Kind::bursts) {
    const std::int64_t now = next_burst_ns();
    ++issued_;
    return drawn(now);
  }
  clock_s_ += next_gap_s();
  ++issued_;
  return drawn(nanoseconds(clock_s_));
}

std::optional<Request> Source::after_completion(std::int64_t now_ns) {
  if (arrivals_.kind != Arrivals::Kind::closed_loop) return std::nullopt;
  return drawn(now_ns + nanoseconds(gaps_.exponential(arrivals_.think_s)));
}

}  // namespace dmprof::workload
