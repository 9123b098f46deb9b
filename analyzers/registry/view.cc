#include "analyzers/registry/view.h"

#include <algorithm>
#include <set>

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
  std::set<TrackId> tracks;
  std::size_t decode_steps = 0;
  const Step* first = nullptr;
  for (std::size_t i = 0; i < recording.steps.size(); ++i) {
    const Step& step = recording.steps[i];
    if (step.step != 0) step_index_.emplace(step.step, i);
    tracks.insert(step.track);
    if (step.phase == Phase::prefill) continue;
    ++decode_steps;
    if (first == nullptr) first = &step;
  }
  step_tracks_ = tracks.size();
  std::erase_if(baseline_steps_, [this](std::uint64_t id) { return !step_index_.contains(id); });
  if (first != nullptr && decode_steps >= fewest_steps_with_warm_up) {
    warm_up_ = first->step;
    warm_up_end_ = end_of(*first);
  }
  Intervals decode, prefill, baseline;
  TimeNs begin = 0, end = 0;
  for (const Step& step : recording.steps) {
    switch (class_of(step)) {
      case StepClass::prefill:
        prefill.push_back(range_of(step));
        break;
      case StepClass::baseline:
        baseline.push_back(range_of(step));
        break;
      case StepClass::warm_up:
        break;
      case StepClass::decode:
        if (decode.empty()) begin = step.start;
        end = std::max(end, end_of(step));
        decode.push_back(range_of(step));
        break;
    }
  }
  prefill_ = unite(std::move(prefill));
  if (decode.empty()) return;
  if (warm_up_ != 0) begin = std::min(begin, warm_up_end_);
  // Only prefill, only baseline: what runs beside a decode step is still decode time.
  Intervals others = prefill_;
  others.insert(others.end(), baseline.begin(), baseline.end());
  others = subtract(unite(std::move(others)), unite(std::move(decode)));
  decode_ = subtract({{begin, end}}, others);
}

View::StepClass View::class_of(const Step& step) const {
  if (step.phase == Phase::prefill) return StepClass::prefill;
  if (step.step != 0 && step.step == warm_up_) return StepClass::warm_up;
  if (baseline_steps_.contains(step.step)) return StepClass::baseline;
  return StepClass::decode;
}

const Step* View::find_step(std::uint64_t step) const {
  if (last_found_ != nullptr && last_found_->step == step) return last_found_;
  const auto found = step_index_.find(step);
  return found == step_index_.end() ? nullptr : last_found_ = &recording_.steps[found->second];
}

void View::index_rows() const {
  if (rows_indexed_) return;
  for (std::size_t i = 0; i < recording_.speculation.size(); ++i)
    rows_of_step_[recording_.speculation[i].step].push_back(i);
  rows_indexed_ = true;
}

std::vector<SpeculationStep> View::rows_of_step(std::uint64_t step) const {
  index_rows();
  std::vector<SpeculationStep> rows;
  const auto found = rows_of_step_.find(step);
  if (step == 0 || found == rows_of_step_.end()) return rows;
  for (const std::size_t i : found->second) rows.push_back(recording_.speculation[i]);
  return rows;
}

bool View::request_in_step(std::uint64_t request, std::uint64_t step) const {
  index_rows();
  const auto found = rows_of_step_.find(step);
  return found != rows_of_step_.end() && std::any_of(found->second.begin(), found->second.end(), [&](std::size_t i) {
           return recording_.speculation[i].request == request;
         });
}

std::vector<Step> View::steps(const Scope& scope) const {
  const StepClass wanted = scope.phase == Phase::prefill ? StepClass::prefill : StepClass::decode;
  std::vector<Step> kept;
  for (const Step& step : recording_.steps) {
    if (class_of(step) != wanted) continue;
    if (scope.range && !scope.range->overlaps(step.start, step.start)) continue;
    if (scope.request && !request_in_step(*scope.request, step.step)) continue;
    kept.push_back(step);
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

std::vector<SpeculationStep> View::speculation(const Scope& scope) const {
  std::vector<SpeculationStep> rows;
  for (const SpeculationStep& row : recording_.speculation) {
    if (row.cut == StepCut::baseline) continue;
    if (scope.request && row.request != *scope.request) continue;
    if (scope.range && !scope.range->overlaps(row.time, row.time)) continue;
    // A row without a draft in a prefill step is the prompt's own; one with a draft decodes beside somebody's prefill.
    const Step* step = find_step(row.step);
    const bool prompt = step != nullptr && step->phase == Phase::prefill && row.drafted == 0;
    if (prompt != (scope.phase == Phase::prefill)) continue;
    rows.push_back(row);
  }
  return rows;
}

bool View::belongs(const BlockAccess& access, const Scope& scope) const {
  if (scope.tier && access.tier != *scope.tier) return false;
  if (scope.range && !scope.range->overlaps(access.time, access.time)) return false;
  const Step* step = find_step(access.step);
  Phase phase = access.phase;
  if (phase == Phase::none) {
    phase = step != nullptr ? step->phase : contains(prefill_, access.time) ? Phase::prefill : Phase::decode;
  }
  if (phase != scope.phase) return false;
  if (phase == Phase::decode && warm_up_ != 0 &&
      (step != nullptr ? step->step == warm_up_ : access.time < warm_up_end_))
    return false;
  return !scope.request || request_in_step(*scope.request, access.step);
}

std::vector<BlockAccess> View::accesses(const Scope& scope) const {
  std::vector<BlockAccess> kept;
  each_access(scope, [&kept](const BlockAccess& access) { kept.push_back(access); });
  return kept;
}

Intervals View::phase_time(Phase phase) const { return phase == Phase::prefill ? prefill_ : decode_; }

Intervals View::time(const Scope& scope) const {
  return scope.range ? clip(phase_time(scope.phase), *scope.range) : phase_time(scope.phase);
}

bool View::in_scope(TimeNs time, const Scope& scope) const {
  if (scope.range && !scope.range->overlaps(time, time)) return false;
  return contains(scope.phase == Phase::prefill ? prefill_ : decode_, time);
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
