#include "dmprof/cli/diagnosis.h"

#include <algorithm>
#include <map>

#include "dmprof/cli/coverage.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/playbook.h"
#include "dmprof/report/diagnosis_json.h"
#include "dmprof/store/annotations.h"
#include "dmprof/store/reader.h"

namespace dmprof::cli {

namespace {

// The process whose knobs and name a fix is written for: the one with knobs, else the first.
const ProcessRow* engine_process(const std::vector<ProcessRow>& processes, const std::vector<Knob>& knobs) {
  for (const ProcessRow& process : processes) {
    const auto has_knob =
        std::any_of(knobs.begin(), knobs.end(), [&](const Knob& knob) { return knob.process == process.id; });
    if (has_knob) return &process;
  }
  return processes.empty() ? nullptr : &processes.front();
}

}  // namespace

Result<rules::Diagnosis> diagnose_recording(const std::filesystem::path& recording,
                                            const std::vector<rules::Rule>& playbook, const Objectives& slo) {
  auto reader = Reader::open(recording.string());
  if (!reader) return tl::unexpected(reader.error());
  auto names = rules::metrics_needed(playbook, catalogue());
  if (!names) return tl::unexpected(names.error());
  EvaluateOptions options;
  options.slo = slo;
  auto evaluated = evaluate(*reader, *names, options);
  if (!evaluated) return tl::unexpected(evaluated.error());
  auto knobs = reader->knobs();
  if (!knobs) return tl::unexpected(knobs.error());
  auto processes = reader->processes();
  if (!processes) return tl::unexpected(processes.error());
  auto environment = reader->environment();
  if (!environment) return tl::unexpected(environment.error());

  const auto broken_off = is_broken_off(*reader);
  if (!broken_off) return tl::unexpected(broken_off.error());

  rules::Context context;
  context.broken_off = *broken_off;
  context.knobs = *knobs;
  if (const ProcessRow* engine = engine_process(*processes, *knobs)) context.engine = engine->name;
  for (const Setting& setting : *environment) {
    if (setting.key == "command") context.command = setting.value;
    if (setting.key.starts_with("env.DM_")) context.variables[setting.key.substr(4)] = setting.value;
  }
  return rules::diagnose(playbook, catalogue(), evaluated->values, context);
}

Status store_findings(const std::filesystem::path& recording) {
  auto playbook = load_playbook({});
  if (!playbook) return tl::unexpected(playbook.error());
  auto diagnosis = diagnose_recording(recording, playbook->rules, {});
  if (!diagnosis) return tl::unexpected(diagnosis.error());
  std::vector<StoredFinding> rows;
  for (const rules::Finding& finding : diagnosis->findings) {
    rows.push_back({finding.rule, std::string(rules::to_text(finding.severity)), report::finding_json(finding)});
  }
  auto annotations = Annotations::open(recording.string());
  if (!annotations) return tl::unexpected(annotations.error());
  return annotations->replace_findings(rows);
}

}  // namespace dmprof::cli
