#include "dmprof/cli/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dmprof/cli/rerun.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/report/diagnosis_json.h"
#include "dmprof/report/format.h"
#include "dmprof/store/annotations.h"
#include "dmprof/store/reader.h"

namespace dmprof::cli {

namespace {

// What is run and by what it is judged; several findings may print the same fix.
struct Attempt {
  std::vector<rules::SuggestedFix*> fixes;
  experiment::Variant variant;
  experiment::Objective objective;
};

// What was predicted is what is measured. A fix without a prediction is judged by what the others were predicted in,
// since a load that keeps its own pace has the same throughput with every setting; else by what its rule is about.
experiment::Objective objective_of(const rules::Finding& finding, const rules::SuggestedFix& fix,
                                   const rules::Diagnosis& diagnosis) {
  const auto of = [](const rules::SuggestedFix& predicted) {
    return experiment::Objective{predicted.predicted_gain->metric, predicted.predicted_gain->metric == "throughput"};
  };
  if (fix.predicted_gain) return of(fix);
  for (const rules::Finding& other : diagnosis.findings) {
    for (const rules::SuggestedFix& predicted : other.fixes) {
      if (predicted.predicted_gain) return of(predicted);
    }
  }
  return finding.objective == "latency" ? experiment::Objective{"tpot", false}
                                        : experiment::Objective{"throughput", true};
}

std::vector<Attempt> attempts(rules::Diagnosis& diagnosis, const Rerun& rerun, bool all) {
  std::vector<Attempt> found;
  for (rules::Finding& finding : diagnosis.findings) {
    for (rules::SuggestedFix& fix : finding.fixes) {
      if (fix.recorded_engine.empty()) continue;
      auto variant = rerun.with({{fix.knob, fix.to}});
      if (!variant) continue;
      const experiment::Objective objective = objective_of(finding, fix, diagnosis);
      const auto same = std::find_if(found.begin(), found.end(), [&](const Attempt& each) {
        return each.variant.name == variant->name && each.objective.metric == objective.metric;
      });
      if (same != found.end())
        same->fixes.push_back(&fix);
      else if (found.empty() || all)
        found.push_back({{&fix}, std::move(*variant), objective});
    }
  }
  return found;
}

rules::Measured measured_of(const experiment::Comparison& comparison) {
  rules::Measured measured;
  measured.verdict = experiment::to_text(comparison.verdict);
  measured.objective = comparison.objective.metric;
  measured.pairs = comparison.pairs;
  measured.exact = comparison.exact;
  for (const auto& [metric, ratio] : comparison.ratios) measured.ratios[metric] = {ratio.low, ratio.mid, ratio.high};
  return measured;
}

Status store(const std::filesystem::path& recording, const rules::Diagnosis& diagnosis) {
  std::vector<StoredFinding> rows;
  for (const rules::Finding& finding : diagnosis.findings)
    rows.push_back({finding.rule, std::string(rules::to_text(finding.severity)), report::finding_json(finding)});
  auto annotations = Annotations::open(recording.string());
  if (!annotations) return tl::unexpected(annotations.error());
  return annotations->replace_findings(rows);
}

}  // namespace

Status verify_fixes(const std::filesystem::path& recording, rules::Diagnosis& diagnosis, const VerifyOptions& options) {
  auto rerun = Rerun::of(recording);
  if (!rerun) return tl::unexpected(rerun.error());
  const std::vector<Attempt> found = attempts(diagnosis, *rerun, options.all);
  if (found.empty()) {
    return fail(ErrorKind::cannot_answer,
                diagnosis.findings.empty()
                    ? "there is no finding, so there is no fix to try"
                    : "no fix of this diagnosis can be typed for the recorded engine; try one by hand");
  }
  DMPROF_TRY(
      ask_to_run(fmt::format("--verify runs the recorded command ({}) up to 30 times for {}", rerun->command().line,
                             found.size() == 1 ? "the first fix" : fmt::format("each of {} fixes", found.size())),
                 options.yes));
  const experiment::Variant before = rerun->as_recorded();
  for (const Attempt& attempt : found) {
    ProgressLine line(stderr);
    experiment::CompareOptions compare_options;
    compare_options.progress = [&](std::size_t pair, std::size_t most) {
      line.show(fmt::format("trying {}: pair {} of at most {}", report::printable(attempt.variant.name), pair, most));
    };
    auto comparison = experiment::compare(
        before, attempt.variant, attempt.objective,
        [&](const experiment::Variant& variant) { return rerun->run(variant); }, compare_options);
    line.clear();
    if (!comparison) return tl::unexpected(comparison.error());
    for (rules::SuggestedFix* fix : attempt.fixes) fix->measured = measured_of(*comparison);
    DMPROF_TRY(store(recording, diagnosis));  // each by itself: what a later fix fails at does not take it away
  }
  return {};
}

Status recall_measured(const std::filesystem::path& recording, rules::Diagnosis& diagnosis) {
  auto reader = Reader::open(recording.string());
  if (!reader) return tl::unexpected(reader.error());
  auto stored = reader->findings();
  if (!stored) return tl::unexpected(stored.error());
  for (rules::Finding& finding : diagnosis.findings) {
    for (const StoredFinding& row : *stored) {
      if (row.rule == finding.rule) report::add_measured(row.json, finding);
    }
  }
  return {};
}

}  // namespace dmprof::cli
