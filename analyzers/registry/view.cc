#include "analyzers/registry/view.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

constexpr std::size_t fewest_steps_with_warm_up = 3;

TimeRange range_of(const Step& step) { return {step.start, end_of(step)}; }

std::string count(std::size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

}  // namespace

View::View(const Recording& recording) : recording_(recording) {
  for (const SpeculationStep& row : recording.speculation) {
    if (row.cut != StepCut::baseline) continue;
    ++baseline_rows_;
    if (row.step != 0) baseline_steps_.insert(row.step);
  }
  for (std::size_t i = 0; i < recording.steps.size(); ++i) {
    if (recording.steps[i].step != 0) step_index_.emplace(recording.steps[i].step, i);
  }
  std::erase_if(baseline_steps_, [this](std::uint64_t id) { return !step_index_.contains(id); });
  find_units();
  find_warm_up();
  find_times();
}

void View::find_units() {
  const auto name_of = [this](TrackId id) {
    const auto found = recording_.tracks.find(id);
    if (found == recording_.tracks.end()) return std::string_view();
    const std::string_view name = found->second.name;
    const std::size_t slash = name.find('/');
    return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
  };
  std::unordered_set<TrackId> steps;
  for (const Step& step : recording_.steps) steps.insert(step.track);
  std::map<std::string_view, std::size_t> by_name;  // of tracks that run steps: other names may hold a slash by chance
  for (const TrackId track : steps) {
    if (const std::string_view name = name_of(track); !name.empty()) by_name.emplace(name, 0);
  }
  std::size_t count = 0;
  for (auto& [name, unit] : by_name) unit = count++;
  for (const auto& [id, track] : recording_.tracks) {
    const auto found = by_name.find(name_of(id));
    if (found != by_name.end() && found->second > 0) unit_of_.emplace(id, found->second);
  }
  units_.resize(std::max<std::size_t>(count, 1));
}

std::size_t View::unit_of(TrackId track) const {
  if (units_.size() == 1) return 0;
  const auto found = unit_of_.find(track);
  return found == unit_of_.end() ? 0 : found->second;
}

void View::find_warm_up() {
  std::vector<std::size_t> decode_steps(units_.size());
  std::vector<const Step*> first(units_.size());
  for (const Step& step : recording_.steps) {
    if (step.phase == Phase::prefill) continue;
    const std::size_t unit = unit_of(step.track);
    ++decode_steps[unit];
    if (first[unit] == nullptr) first[unit] = &step;
  }
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (decode_steps[unit] < fewest_steps_with_warm_up || first[unit]->step == 0) continue;
    warm_up_.insert(first[unit]->step);
    units_[unit].warms_up = true;
    units_[unit].warm_up_end = end_of(*first[unit]);
  }
}

// Units share the stretch from the first decode step of any to the last; of it each leaves out what it spent otherwise.
void View::find_times() {
  std::vector<Intervals> decode(units_.size()), others(units_.size());
  TimeRange all{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
  const auto count = static_cast<TimeNs>(units_.size());
  for (const Step& step : recording_.steps) {
    const std::size_t unit = unit_of(step.track);
    switch (class_of(step)) {
      case StepClass::prefill:
        units_[unit].prefill.push_back(range_of(step));
        break;
      case StepClass::baseline:
      case StepClass::warm_up:
        others[unit].push_back(range_of(step));
        break;
      case StepClass::decode:
        all.begin = std::min({all.begin, step.start, units_[unit].warms_up ? units_[unit].warm_up_end : step.start});
        all.end = std::max(all.end, end_of(step));
        decode[unit].push_back(range_of(step));
        break;
    }
  }
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    Unit& each = units_[unit];
    each.prefill = unite(std::move(each.prefill));
    prefill_length_ += total(each.prefill) / count;
    if (all.begin > all.end) continue;
    // Only prefill, only baseline: what runs beside a decode step is still decode time.
    others[unit].insert(others[unit].end(), each.prefill.begin(), each.prefill.end());
    each.decode = subtract({all}, subtract(unite(std::move(others[unit])), unite(std::move(decode[unit]))));
    decode_length_ += total(each.decode) / count;
  }
}

View::StepClass View::class_of(const Step& step) const {
  if (step.phase == Phase::prefill) return StepClass::prefill;
  if (step.step != 0 && warm_up_.contains(step.step)) return StepClass::warm_up;
  if (baseline_steps_.contains(step.step)) return StepClass::baseline;
  return StepClass::decode;
}

const Step* View::find_step(std::uint64_t step) const {
  if (last_found_ != nullptr && last_found_->step == step) return last_found_;
  const auto found = step_index_.find(step);
  return found == step_index_.end() ? nullptr : last_found_ = &recording_.steps[found->second];
}

const KeyIndex& View::rows_by_step() const {
  if (!rows_by_step_.built())
    rows_by_step_.build(recording_.speculation, [](const SpeculationStep& row) { return row.step; });
  return rows_by_step_;
}

const KeyIndex& View::rows_by_request() const {
  if (!rows_by_request_.built())
    rows_by_request_.build(recording_.speculation, [](const SpeculationStep& row) { return row.request; });
  return rows_by_request_;
}

const KeyIndex& View::events_by_request() const {
  if (!events_by_request_.built())
    events_by_request_.build(recording_.requests, [](const RequestEvent& event) { return event.request; });
  return events_by_request_;
}

std::vector<SpeculationStep> View::rows_of_step(std::uint64_t step) const {
  std::vector<SpeculationStep> rows;
  if (step == 0) return rows;
  for (const KeyIndex::Entry& entry : rows_by_step().find(step)) rows.push_back(recording_.speculation[entry.position]);
  return rows;
}

std::vector<std::size_t> View::steps_of_request(std::uint64_t request) const {
  std::vector<std::size_t> positions;
  for (const KeyIndex::Entry& entry : rows_by_request().find(request)) {
    const auto found = step_index_.find(recording_.speculation[entry.position].step);
    if (found != step_index_.end()) positions.push_back(found->second);
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

std::vector<std::size_t> View::accesses_of_request(std::uint64_t request) const {
  if (!accesses_by_step_.built())
    accesses_by_step_.build(recording_.accesses, [](const BlockAccess& access) { return access.step; });
  std::vector<std::size_t> positions;
  for (const std::size_t step : steps_of_request(request)) {
    for (const KeyIndex::Entry& entry : accesses_by_step_.find(recording_.steps[step].step))
      positions.push_back(entry.position);
  }
  return positions;
}

std::vector<Step> View::steps(const Scope& scope) const {
  const StepClass wanted = scope.phase == Phase::prefill ? StepClass::prefill : StepClass::decode;
  std::vector<Step> kept;
  const auto look = [&](const Step& step) {
    if (class_of(step) != wanted) return;
    if (scope.range && !scope.range->overlaps(step.start, step.start)) return;
    kept.push_back(step);
  };
  if (scope.request) {
    for (const std::size_t i : steps_of_request(*scope.request)) look(recording_.steps[i]);
  } else {
    for (const Step& step : recording_.steps) look(step);
  }
  return kept;
}

std::vector<Step> View::baseline_steps(const Scope& scope) const {
  std::vector<Step> kept;
  for (const Step& step : recording_.steps) {
    if (class_of(step) != StepClass::baseline) continue;
    if (scope.range && !scope.range->overlaps(step.start, step.start)) continue;
    kept.push_back(step);
  }
  return kept;
}

bool View::keeps(const SpeculationStep& row, const Scope& scope) const {
  if (row.cut == StepCut::baseline) return false;
  if (scope.range && !scope.range->overlaps(row.time, row.time)) return false;
  // A row without a draft in a prefill step is the prompt's own; one with a draft decodes beside somebody's prefill.
  const Step* step = find_step(row.step);
  const bool prompt = step != nullptr && step->phase == Phase::prefill && row.drafted == 0;
  return prompt == (scope.phase == Phase::prefill);
}

std::vector<SpeculationStep> View::speculation(const Scope& scope) const {
  std::vector<SpeculationStep> rows;
  if (scope.request) {
    for (const KeyIndex::Entry& entry : rows_by_request().find(*scope.request)) {
      const SpeculationStep& row = recording_.speculation[entry.position];
      if (keeps(row, scope)) rows.push_back(row);
    }
    return rows;
  }
  for (const SpeculationStep& row : recording_.speculation) {
    if (keeps(row, scope)) rows.push_back(row);
  }
  return rows;
}

bool View::belongs(const Scope& scope, TrackId track, TierId tier, TimeNs time, std::uint64_t step_id,
                   Phase phase) const {
  if (scope.tier && tier != *scope.tier) return false;
  if (scope.range && !scope.range->overlaps(time, time)) return false;
  const Step* step = find_step(step_id);
  const Unit& unit = units_[unit_of(track)];
  if (phase == Phase::none) {
    phase = step != nullptr ? step->phase : contains(unit.prefill, time) ? Phase::prefill : Phase::decode;
  }
  if (phase != scope.phase) return false;
  const bool warming_up = step != nullptr ? warm_up_.contains(step->step) : unit.warms_up && time < unit.warm_up_end;
  return !(phase == Phase::decode && warming_up);
}

std::vector<BlockAccess> View::accesses(const Scope& scope) const {
  std::vector<BlockAccess> kept;
  each_access(scope, [&kept](const BlockAccess& access) { kept.push_back(access); });
  return kept;
}

Intervals View::time(const Scope& scope, TrackId track) const { return time_of_unit(scope, unit_of(track)); }

Intervals View::time_of_unit(const Scope& scope, std::size_t unit) const {
  const Intervals& time = units_[unit].of(scope.phase);
  return scope.range ? clip(time, *scope.range) : time;
}

Intervals View::time(const Scope& scope) const {
  Intervals time;
  for (const Unit& unit : units_) time.insert(time.end(), unit.of(scope.phase).begin(), unit.of(scope.phase).end());
  if (units_.size() > 1) time = unite(std::move(time));
  return scope.range ? clip(time, *scope.range) : time;
}

TimeNs View::wall(const Scope& scope) const {
  if (!scope.range) return scope.phase == Phase::prefill ? prefill_length_ : decode_length_;
  TimeNs sum = 0;
  const auto count = static_cast<TimeNs>(units_.size());
  for (const Unit& unit : units_) sum += total(clip(unit.of(scope.phase), *scope.range)) / count;
  return sum;
}

TimeRange View::run() const {
  TimeRange run{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
  const auto include = [&run](TimeNs begin, TimeNs end) {
    run.begin = std::min(run.begin, begin), run.end = std::max(run.end, end);
  };
  for (const RequestEvent& event : recording_.requests) include(event.time, event.time);
  for (const Step& step : recording_.steps) include(step.start, end_of(step));
  return run.begin > run.end ? TimeRange{0, 0} : run;
}

bool View::in_scope(TrackId track, TimeNs time, const Scope& scope) const {
  if (scope.range && !scope.range->overlaps(time, time)) return false;
  return contains(units_[unit_of(track)].of(scope.phase), time);
}

std::string View::window(const Scope& scope, bool keeps_warm_up, bool keeps_baseline) const {
  std::string text = scope.phase == Phase::prefill ? "prefill" : "decode";
  if (scope.phase != Phase::prefill) {
    std::vector<std::string> left_out;
    if (!keeps_warm_up && warm_up_steps() > 0) left_out.push_back(count(warm_up_steps(), "warm-up step"));
    if (!keeps_baseline && !baseline_steps_.empty()) left_out.push_back(count(baseline_steps_.size(), "baseline step"));
    if (!left_out.empty()) text += fmt::format(", {} left out", fmt::join(left_out, " and "));
    if (!keeps_warm_up && warm_up_steps() == 0) text += ", no warm-up left out (too few steps)";
  }
  if (!recording_.note.empty()) text += "; " + recording_.note;
  return text;
}

}  // namespace dmprof
