#include "samples/simcard/fit/habits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "samples/simcard/fit/program.h"
#include "samples/simcard/fit/units.h"

namespace dmprof::twin {
namespace {

// No recording shows how long a thread copies a block of an imitated link: the copy hides behind the link's time.
constexpr double kCopyBase = 5'000;
constexpr double kCopyBandwidth = 4e9;
constexpr TimeNs kRounding = 2'000;          // ticks become nanoseconds at both ends of an event
constexpr TimeNs kLongestSleep = 5'000'000;  // a later look around has another cause

}  // namespace

double TimingSamples::mean_of(const std::vector<double>& samples) {
  return samples.empty() ? 0
                         : std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

Status TimingSamples::add(const Recording& recording, const std::string& backing, std::uint32_t prefetch_distance,
                          const std::vector<RecordedPass>& passes) {
  if (recording.transfers.empty()) {
    return fail(ErrorKind::cannot_answer,
                "the recording holds no transfers: everything stayed resident, so the link cannot be fitted; record "
                "with a smaller --resident");
  }
  if (backing_.empty()) {
    backing_ = backing;
    link_.imitated = backing != "file";
    if (link_.imitated) {
      const auto throttle = parse_throttle(backing);
      if (!throttle) return fail(ErrorKind::bad_input, "the recording's knob backing: " + throttle.error().message);
      link_.bytes_per_second = throttle->bytes_per_second;
      link_.latency = throttle->latency;
    }
  } else if (backing_ != backing) {
    return fail(ErrorKind::usage,
                fmt::format("the recordings have different links ({} and {}); fit them apart", backing_, backing));
  }
  const TrackId engine = recording.kernels.front().track;
  for (const Transfer& each : recording.transfers) {
    moved_.push_back({static_cast<double>(each.useful_bytes), static_cast<double>(each.duration)});
  }
  add_waits(recording, engine);
  if (prefetch_distance > 0) add_planning(recording, engine);
  planned_accesses_ = planned_accesses_ > 0 ? planned_accesses_ : prefetch_distance;
  for (const RecordedPass& pass : passes) {
    plans_ += pass.plans;
    plan_time_ += static_cast<double>(pass.planning);
  }
  add_steps(recording, passes);
  return {};
}

// From a block's arrival until the engine went on.
void TimingSamples::add_waits(const Recording& recording, TrackId engine) {
  std::map<std::uint64_t, std::vector<TimeNs>> arrivals;
  for (const Transfer& each : recording.transfers) arrivals[each.block].push_back(each.start + each.duration);
  for (auto& [block, times] : arrivals) std::sort(times.begin(), times.end());
  for (const BlockAccess& access : recording.accesses) {
    if (access.track != engine || access.outcome == AccessOutcome::hit) continue;
    const auto& times = arrivals[access.block];
    const TimeNs end = access.time + access.wait;
    const auto after = std::upper_bound(times.begin(), times.end(), end + kRounding);
    if (after == times.begin() || *(after - 1) < access.time) continue;
    const auto overshoot = static_cast<double>(std::max<TimeNs>(end - *(after - 1), 0));
    (access.outcome == AccessOutcome::miss ? miss_ : late_).push_back(overshoot);
  }
}

void TimingSamples::add_planning(const Recording& recording, TrackId engine) {
  std::vector<TimeNs> prefetched;
  for (const Transfer& each : recording.transfers) {
    if (each.track != engine) prefetched.push_back(each.start + each.duration);
  }
  std::sort(prefetched.begin(), prefetched.end());
  for (const Slice& slice : recording.slices) {
    if (slice.track != engine && recording.name(slice.name) == "path_prediction") {
      const auto after = std::upper_bound(prefetched.begin(), prefetched.end(), slice.start);
      if (after != prefetched.begin() && slice.start - *(after - 1) < kLongestSleep) {
        oversleep_.push_back(static_cast<double>(slice.start - *(after - 1)));
      }
    }
  }
}

void TimingSamples::add_steps(const Recording& recording, const std::vector<RecordedPass>& passes) {
  struct Passes {
    double target = 0, draft = 0;  // time of their operations
    int targets = 0, drafts = 0;
  };
  std::map<std::uint64_t, Passes> by_step;
  for (const RecordedPass& pass : passes) {
    Passes& of_step = by_step[pass.step];
    (pass.draft ? of_step.draft : of_step.target) += static_cast<double>(pass.duration);
    ++(pass.draft ? of_step.drafts : of_step.targets);
  }
  std::vector<TimeNs> idle;
  for (const Slice& slice : recording.slices) {
    if (recording.name(slice.name) == "idle") idle.push_back(slice.start);
  }
  std::optional<TimeNs> end;
  for (const Step& step : recording.steps) {
    accept_.push_back(static_cast<double>(step.accept_time));
    // A pause in which the engine had nothing to do is none of its own.
    const auto pause = end ? std::lower_bound(idle.begin(), idle.end(), *end) : idle.end();
    if (end && step.start >= *end && (pause == idle.end() || *pause > step.start)) {
      between_.push_back(static_cast<double>(step.start - *end));
    }
    end = step.start + step.duration;
    const Passes& of_step = by_step[step.step];
    if (of_step.targets > 0) {
      target_other_.push_back(std::max(0.0, static_cast<double>(step.verify_time) - of_step.target) / of_step.targets);
    }
    if (of_step.drafts > 0) {
      draft_other_.push_back(std::max(0.0, static_cast<double>(step.draft_time) - of_step.draft) / of_step.drafts);
    }
  }
}

Link TimingSamples::link() const {
  Link link = link_;
  if (link.imitated) {
    link.move_base = kCopyBase;
    link.move_bytes_per_second = kCopyBandwidth;
  } else {
    // A line through the typical time of each size.
    std::map<double, std::vector<double>> by_size;
    for (const Moved& each : moved_) by_size[each.bytes].push_back(each.duration);
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& [bytes, durations] : by_size) {
      const auto weight = static_cast<double>(durations.size());
      const double typical = median_of(durations);
      n += weight, x += weight * bytes, y += weight * typical;
      xx += weight * bytes * bytes, xy += weight * bytes * typical;
    }
    const double spread = n * xx - x * x;
    double slope = spread > 0 ? (n * xy - x * y) / spread : 0;
    double base = (y - slope * x) / n;
    if (slope <= 0 || base < 0) {  // sizes alike, or too noisy for a line: proportional
      slope = x > 0 ? y / x : 1;
      base = 0;
    }
    link.move_base = base;
    link.move_bytes_per_second = slope > 0 ? 1e9 / slope : 1e12;
    link.bytes_per_second = link.move_bytes_per_second;
    std::vector<double> excess;
    for (const Moved& each : moved_) {
      const double typical = base + each.bytes * slope;
      excess.push_back(std::max(each.duration - typical, -typical));
    }
    link.excess = bins_of(std::move(excess), 100);
  }
  return link;
}

std::vector<double> TimingSamples::excess() const {
  std::vector<double> samples;
  for (const Moved& each : moved_) {
    samples.push_back(
        link_.excess_of(static_cast<std::uint64_t>(each.bytes), static_cast<std::int64_t>(each.duration)));
  }
  return samples;
}

Habits TimingSamples::habits() const {
  Habits habits;
  habits.plan = plans_ > 0 ? plan_time_ / plans_ : 0;
  habits.plan_distance = static_cast<std::uint32_t>(std::max(planned_accesses_, 1.0));
  habits.miss_overshoot = bins_of(miss_);
  habits.late_overshoot = bins_of(late_);
  habits.prefetch_oversleep = bins_of(oversleep_);
  habits.accept_step = mean_of(accept_);
  habits.between_steps = mean_of(between_);
  return habits;
}

}  // namespace dmprof::twin
