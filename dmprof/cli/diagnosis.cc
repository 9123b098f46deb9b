#include "dmprof/cli/diagnosis.h"

#include <optional>
#include <span>

#include "dmprof/cli/coverage.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/playbook.h"
#include "dmprof/cli/recorded_command.h"
#include "dmprof/cli/whatif_source.h"
#include "dmprof/report/diagnosis_json.h"
#include "dmprof/store/annotations.h"
#include "dmprof/store/reader.h"
#include "rules/engine/gains.h"

namespace dmprof::cli {

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
  auto command = recorded_command(*reader);
  if (!command) return tl::unexpected(command.error());
  const auto broken_off = is_broken_off(*reader);
  if (!broken_off) return tl::unexpected(broken_off.error());

  auto brief = too_short(*reader);
  if (!brief) return tl::unexpected(brief.error());

  rules::Context context = command->context();
  context.broken_off = *broken_off;
  context.too_short = std::move(*brief);
  context.cut_off = cut_off_note(reader->path());
  auto diagnosis = rules::diagnose(playbook, catalogue(), evaluated->values, context);
  if (!diagnosis) return diagnosis;
  // The events are read only where there is a fix to ask about.
  std::optional<Result<std::unique_ptr<WhatIfSource>>> source;
  rules::add_gains(*diagnosis, [&](std::span<const whatif::Setting> settings) -> Result<whatif::Prediction> {
    if (!source) source.emplace(WhatIfSource::open(recording, {}));
    if (!*source) return tl::unexpected(source->error());
    return (**source)->model().predict(settings);
  });
  return diagnosis;
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
