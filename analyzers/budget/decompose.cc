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

Service service(const std::vector<RequestEvent>& events) {
  std::map<std::uint64_t, TimeNs> waits_since, served_since;
  Service result;
  TimeNs last = 0;
  const auto close = [](std::map<std::uint64_t, TimeNs>& open, std::uint64_t request, TimeNs time, Intervals& into) {
    const auto found = open.find(request);
    if (found == open.end()) return;
    into.push_back({found->second, time});
    open.erase(found);
  };
  for (const RequestEvent& event : events) {
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

}  // namespace

Parts decompose(const View& view, const Scope& scope) {
  Parts parts;
  std::set<TrackId> tracks;
  for (const Step& step : view.steps(scope)) tracks.insert(step.track), ++parts.steps;
  const Intervals wall = view.time(scope);
  const Recording& recording = view.recording();
  parts.knows_requests = !recording.requests.empty();
  const Service requests = service(recording.requests);
  Intervals transfers;
  for (const Transfer& transfer : recording.transfers) transfers.push_back({transfer.start, end_of(transfer)});
  transfers = unite(std::move(transfers));
  for (const TrackId track : tracks) {
    const Stages stages = stages_of(view, scope, track);
    const Waits waits = waits_of(view, scope, track, tracks.size() == 1);
    Intervals left = wall;
    // Gives the part what of `claim` nobody before it took.
    const auto take = [&left](const Intervals& claim) {
      const TimeNs taken = total(intersect(left, claim));
      left = subtract(left, claim);
      return static_cast<double>(taken);
    };
    const Intervals compute = intersect(unite([&] {
                                          Intervals both = stages.draft;
                                          both.insert(both.end(), stages.verify.begin(), stages.verify.end());
                                          return both;
                                        }()),
                                        wall);
    const auto computed = static_cast<double>(total(compute));
    parts.compute += computed;
    parts.wall += static_cast<double>(total(wall));
    parts.memory_stall += take(intersect(waits.miss, stages.steps));
    parts.prefetch_wait += take(intersect(waits.late, stages.steps));
    parts.compute_waiting += computed - static_cast<double>(total(intersect(compute, left)));
    parts.draft += take(stages.draft);
    parts.verify += take(stages.verify);
    parts.host += take(stages.host);
    const double exposed = take(transfers);
    parts.transfer += exposed;
    parts.hidden_transfer += static_cast<double>(total(intersect(transfers, wall))) - exposed;
    parts.host += take(stages.steps) + take(requests.serving);
    parts.queue += take(requests.waiting);
    parts.idle += static_cast<double>(total(left));
  }
  return parts;
}

}  // namespace dmprof::budget
