#include "analyzers/budget/decompose.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
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
class Service {
 public:
  void add(const RequestEvent& event) {
    switch (event.point) {
      case RequestPoint::arrive:
        waits_since_.emplace(event.request, event.time);
        break;
      case RequestPoint::preempt:
        close(served_since_, event, serving_);
        waits_since_.emplace(event.request, event.time);
        break;
      case RequestPoint::schedule:
      case RequestPoint::first_token:
        close(waits_since_, event, waiting_);
        served_since_.emplace(event.request, event.time);
        break;
      case RequestPoint::end:
      case RequestPoint::fail:
        close(waits_since_, event, waiting_);
        close(served_since_, event, serving_);
        break;
    }
  }
  // All events were added. Who is still there then outlives the recording.
  void finish() {
    const TimeNs forever = std::numeric_limits<TimeNs>::max();
    for (const auto& [request, since] : waits_since_) waiting_.push_back({since, forever});
    for (const auto& [request, since] : served_since_) serving_.push_back({since, forever});
    waiting_ = unite(std::move(waiting_));
    serving_ = unite(std::move(serving_));
  }
  const Intervals& waiting() const { return waiting_; }
  const Intervals& serving() const { return serving_; }

 private:
  using Open = std::map<std::uint64_t, TimeNs>;
  static void close(Open& open, const RequestEvent& event, Intervals& into) {
    const auto found = open.find(event.request);
    if (found == open.end()) return;
    into.push_back({found->second, event.time});
    open.erase(found);
  }
  Open waits_since_, served_since_;
  Intervals waiting_, serving_;
};

// What goes on around the tracks of a unit.
struct Around {
  Service requests;
  Intervals transfers;
};

struct OfTrack {
  Stages stages;
  Waits waits;
  std::unordered_set<std::uint64_t> sliced;  // steps that have slices of their stages
};

// The recording sorted by unit and by track, in one reading whatever the number of either: of a thousand cards each
// has a track that runs steps.
struct Sorted {
  std::map<std::size_t, Around> units;
  std::map<TrackId, OfTrack> tracks;
  std::uint64_t steps = 0;
};

void add_slices(const Recording& recording, Sorted& sorted) {
  for (const Slice& slice : recording.slices) {
    const auto found = sorted.tracks.find(slice.track);
    if (found == sorted.tracks.end()) continue;
    const Work work = work_of(recording.name(slice.name));
    const TimeRange range{slice.start, end_of(slice)};
    Stages& stages = found->second.stages;
    if (work == Work::draft) stages.draft.push_back(range);
    if (work == Work::verify) stages.verify.push_back(range);
    if (work == Work::host) stages.host.push_back(range);
    if (work == Work::draft || work == Work::verify) found->second.sliced.insert(slice.step);
  }
}

void add_step(const Step& step, OfTrack& track) {
  const TimeNs end = end_of(step);
  track.stages.steps.push_back({step.start, end});
  if (step.step != 0 && track.sliced.contains(step.step)) return;
  const auto after = [end](TimeNs from, TimeNs length) { return std::min(end, add_duration(from, length)); };
  const TimeNs drafted = after(step.start, step.draft_time), verified = after(drafted, step.verify_time);
  track.stages.draft.push_back({step.start, drafted});
  track.stages.verify.push_back({drafted, verified});
  track.stages.host.push_back({verified, after(verified, step.accept_time)});
}

// Of a single track that runs steps all waits are its own, also those of accesses that name no step.
void add_waits(const View& view, const Scope& scope, Sorted& sorted) {
  OfTrack* const only = sorted.tracks.size() == 1 ? &sorted.tracks.begin()->second : nullptr;
  view.each_access(scope, [&](const BlockAccess& access) {
    if (access.wait <= 0) return;
    OfTrack* track = only;
    if (track == nullptr) {
      const Step* step = view.find_step(access.step);
      const auto found = step == nullptr ? sorted.tracks.end() : sorted.tracks.find(step->track);
      if (found == sorted.tracks.end()) return;
      track = &found->second;
    }
    (access.outcome == AccessOutcome::late ? track->waits.late : track->waits.miss)
        .push_back({access.time, add_duration(access.time, access.wait)});
  });
}

Sorted sort_out(const View& view, const Scope& scope) {
  Sorted sorted;
  const Recording& recording = view.recording();
  const std::vector<Step> steps = view.steps(scope);
  sorted.steps = steps.size();
  for (const Step& step : steps) {
    sorted.tracks.try_emplace(step.track);
    sorted.units.try_emplace(view.unit_of(step.track));
  }
  for (const RequestEvent& event : recording.requests) {
    if (const auto unit = sorted.units.find(view.unit_of(event.track)); unit != sorted.units.end())
      unit->second.requests.add(event);
  }
  for (const Transfer& transfer : recording.transfers) {
    if (const auto unit = sorted.units.find(view.unit_of(transfer.track)); unit != sorted.units.end())
      unit->second.transfers.push_back({transfer.start, end_of(transfer)});
  }
  add_slices(recording, sorted);
  for (const Step& step : steps) add_step(step, sorted.tracks.at(step.track));
  add_waits(view, scope, sorted);
  for (auto& [unit, around] : sorted.units) {
    around.requests.finish();
    around.transfers = unite(std::move(around.transfers));
  }
  // Slices of prefill, warm-up and baseline steps are in the lists too; their time is not in the scope's.
  for (auto& [id, track] : sorted.tracks) {
    Stages& stages = track.stages;
    for (Intervals* part :
         {&stages.draft, &stages.verify, &stages.host, &stages.steps, &track.waits.miss, &track.waits.late})
      *part = unite(std::move(*part));
  }
  return sorted;
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
  const Sorted sorted = sort_out(view, scope);
  parts.steps = sorted.steps;
  parts.knows_requests = !view.recording().requests.empty();
  for (const auto& [id, track] : sorted.tracks) {
    const auto& [requests, transfers] = sorted.units.at(view.unit_of(id));
    const Intervals wall = view.time(scope, id);
    const Stages& stages = track.stages;
    const Waits& waits = track.waits;
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
    claims.draft = take(stages.draft);
    claims.verify = take(stages.verify);
    claims.host = take(stages.host);
    claims.transfer = take(intersect(transfers, stages.steps));
    Intervals rest = take(stages.steps);
    claims.host.insert(claims.host.end(), rest.begin(), rest.end());
    rest = take(requests.serving());
    claims.host.insert(claims.host.end(), rest.begin(), rest.end());
    claims.host = unite(std::move(claims.host));
    claims.queue = take(requests.waiting());
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
    // A transfer that somebody stands still for, or that nobody is there to work beside, hides behind nothing.
    Intervals busy = claims.draft;
    busy.insert(busy.end(), claims.verify.begin(), claims.verify.end());
    busy.insert(busy.end(), claims.host.begin(), claims.host.end());
    busy = unite(std::move(busy));
    parts.hidden_transfer += length(intersect(transfers, busy));
    sample_steps(claims, wall, stages.steps, parts.over_steps);
  }
  return parts;
}

}  // namespace dmprof::budget
