#include "analyzers/budget/decompose.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include "dmprof/event/describe.h"

namespace dmprof::budget {
namespace {

enum class Work { none, draft, verify, host };

// Names that engines give their stages.
Work work_of(std::string_view name) {
  constexpr std::array draft = {"candidate_generation", "draft"};
  constexpr std::array verify = {"verification", "verify", "prefill"};
  constexpr std::array host = {"acceptance", "accept", "path_prediction", "prefetch_scheduling", "host", "sampling"};
  const auto among = [name](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return among(draft) ? Work::draft : among(verify) ? Work::verify : among(host) ? Work::host : Work::none;
}

struct Stages {
  Intervals draft, verify, host, steps;
};

struct Waits {
  Intervals miss, late;
};

// Stretches in which a request waits for admission, and in which one is being served.
struct Service {
  Intervals waiting, serving;
};

Service service(const View& view, std::size_t unit) {
  std::map<std::uint64_t, TimeNs> waits_since, served_since;
  Service result;
  TimeNs last = 0;
  const auto close = [](std::map<std::uint64_t, TimeNs>& open, std::uint64_t request, TimeNs time, Intervals& into) {
    const auto found = open.find(request);
    if (found == open.end()) return;
    into.push_back({found->second, time});
    open.erase(found);
  };
  for (const RequestEvent& event : view.recording().requests) {
    if (view.unit_of(event.track) != unit) continue;
    last = std::max(last, event.time);
    switch (event.point) {
      case RequestPoint::arrive:
        waits_since.emplace(event.request, event.time);
        break;
      case RequestPoint::preempt:
        close(served_since, event.request, event.time, result.serving);
        waits_since.emplace(event.request, event.time);
        break;
      case RequestPoint::schedule:
      case RequestPoint::first_token:
        close(waits_since, event.request, event.time, result.waiting);
        served_since.emplace(event.request, event.time);
        break;
      case RequestPoint::end:
      case RequestPoint::fail:
        close(waits_since, event.request, event.time, result.waiting);
        close(served_since, event.request, event.time, result.serving);
        break;
    }
  }
  // Still there when the recording ends.
  const TimeNs forever = std::numeric_limits<TimeNs>::max();
  for (const auto& [request, since] : waits_since) result.waiting.push_back({since, forever});
  for (const auto& [request, since] : served_since) result.serving.push_back({since, forever});
  result.waiting = unite(std::move(result.waiting));
  result.serving = unite(std::move(result.serving));
  return result;
}

// What goes on around the tracks of a unit.
struct Around {
  Service requests;
  Intervals transfers;
};

Around around_unit(const View& view, std::size_t unit) {
  Around around{service(view, unit), {}};
  for (const Transfer& transfer : view.recording().transfers) {
    if (view.unit_of(transfer.track) == unit) around.transfers.push_back({transfer.start, end_of(transfer)});
  }
  around.transfers = unite(std::move(around.transfers));
  return around;
}

Stages stages_of(const View& view, const Scope& scope, TrackId track) {
  Stages stages;
  const Recording& recording = view.recording();
  std::unordered_set<std::uint64_t> sliced;
  for (const Slice& slice : recording.slices) {
    if (slice.track != track) continue;
    const Work work = work_of(recording.name(slice.name));
    const TimeRange range{slice.start, end_of(slice)};
    if (work == Work::draft) stages.draft.push_back(range);
    if (work == Work::verify) stages.verify.push_back(range);
    if (work == Work::host) stages.host.push_back(range);
    if (work == Work::draft || work == Work::verify) sliced.insert(slice.step);
  }
  for (const Step& step : view.steps(scope)) {
    if (step.track != track) continue;
    const TimeNs end = end_of(step);
    stages.steps.push_back({step.start, end});
    if (step.step != 0 && sliced.contains(step.step)) continue;
    const auto after = [end](TimeNs from, TimeNs length) { return std::min(end, add_duration(from, length)); };
    const TimeNs drafted = after(step.start, step.draft_time), verified = after(drafted, step.verify_time);
    stages.draft.push_back({step.start, drafted});
    stages.verify.push_back({drafted, verified});
    stages.host.push_back({verified, after(verified, step.accept_time)});
  }
  for (Intervals* part : {&stages.draft, &stages.verify, &stages.host, &stages.steps}) *part = unite(std::move(*part));
  // Slices of prefill, warm-up and baseline steps are in the lists too; their time is not in the scope's.
  return stages;
}

Waits waits_of(const View& view, const Scope& scope, TrackId track, bool only_track) {
  Waits waits;
  view.each_access(scope, [&](const BlockAccess& access) {
    if (access.wait <= 0) return;
    const Step* step = view.find_step(access.step);
    if (!only_track && (step == nullptr || step->track != track)) return;
    (access.outcome == AccessOutcome::late ? waits.late : waits.miss)
        .push_back({access.time, add_duration(access.time, access.wait)});
  });
  waits.miss = unite(std::move(waits.miss));
  waits.late = unite(std::move(waits.late));
  return waits;
}

// What each part took of one track's wall time.
struct Claims {
  Intervals queue, draft, verify, memory_stall, prefetch_wait, transfer, host, idle, compute, compute_waiting;
};

double length(const Intervals& intervals) { return static_cast<double>(total(intervals)); }

// From the start of each step to the start of the next.
void sample_steps(const Claims& claims, const Intervals& wall, const Intervals& steps, Parts::OverSteps& samples) {
  if (wall.empty()) return;
  TimeNs begin = wall.front().begin;
  const auto add = [&](TimeNs end) {
    const TimeRange segment{begin, end};
    begin = end;
    const auto inside = [&](const Intervals& part) { return static_cast<double>(overlap(part, segment)); };
    const double all = inside(wall), compute = inside(claims.compute);
    if (all <= 0) return;
    samples.queue.add(inside(claims.queue), all);
    samples.draft.add(inside(claims.draft), all);
    samples.verify.add(inside(claims.verify), all);
    samples.memory_stall.add(inside(claims.memory_stall), all);
    samples.prefetch_wait.add(inside(claims.prefetch_wait), all);
    samples.transfer.add(inside(claims.transfer), all);
    samples.host.add(inside(claims.host), all);
    samples.idle.add(inside(claims.idle), all);
    samples.compute.add(compute, all);
    samples.compute_waiting.add(inside(claims.compute_waiting), compute);
  };
  for (const TimeRange& step : steps) {
    if (step.begin > begin) add(step.begin);
  }
  if (begin < wall.back().end) add(wall.back().end);
}

}  // namespace

Parts decompose(const View& view, const Scope& scope) {
  Parts parts;
  std::set<TrackId> tracks;
  const std::vector<Step> steps = view.steps(scope);
  for (const Step& step : steps) tracks.insert(step.track), ++parts.steps;
  const Recording& recording = view.recording();
  parts.knows_requests = !recording.requests.empty();
  std::map<std::size_t, Around> around;
  for (const TrackId track : tracks) {
    const std::size_t unit = view.unit_of(track);
    if (!around.contains(unit)) around.emplace(unit, around_unit(view, unit));
    const auto& [requests, transfers] = around.at(unit);
    const Intervals wall = view.time(scope, track);
    const Stages stages = stages_of(view, scope, track);
    const Waits waits = waits_of(view, scope, track, tracks.size() == 1);
    Intervals left = wall;
    // Gives the part what of `claim` nobody before it took.
    const auto take = [&left](const Intervals& claim) {
      Intervals taken = intersect(left, claim);
      left = subtract(left, claim);
      return taken;
    };
    Claims claims;
    claims.compute = stages.draft;
    claims.compute.insert(claims.compute.end(), stages.verify.begin(), stages.verify.end());
    claims.compute = intersect(unite(std::move(claims.compute)), wall);
    claims.memory_stall = take(intersect(waits.miss, stages.steps));
    claims.prefetch_wait = take(intersect(waits.late, stages.steps));
    claims.compute_waiting = subtract(claims.compute, left);
    const Intervals unwaited = left;
    claims.draft = take(stages.draft);
    claims.verify = take(stages.verify);
    claims.host = take(stages.host);
    claims.transfer = take(transfers);
    Intervals rest = take(stages.steps);
    claims.host.insert(claims.host.end(), rest.begin(), rest.end());
    rest = take(requests.serving);
    claims.host.insert(claims.host.end(), rest.begin(), rest.end());
    claims.host = unite(std::move(claims.host));
    claims.queue = take(requests.waiting);
    claims.idle = left;
    parts.wall += length(wall);
    parts.queue += length(claims.queue);
    parts.draft += length(claims.draft);
    parts.verify += length(claims.verify);
    parts.memory_stall += length(claims.memory_stall);
    parts.prefetch_wait += length(claims.prefetch_wait);
    parts.transfer += length(claims.transfer);
    parts.host += length(claims.host);
    parts.idle += length(claims.idle);
    parts.compute += length(claims.compute);
    parts.compute_waiting += length(claims.compute_waiting);
    // A transfer that somebody stands still for hides behind nothing.
    parts.hidden_transfer += length(intersect(transfers, unwaited)) - length(claims.transfer);
    sample_steps(claims, wall, stages.steps, parts.over_steps);
  }
  return parts;
}

}  // namespace dmprof::budget
