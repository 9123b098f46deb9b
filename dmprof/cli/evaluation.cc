#include "dmprof/cli/evaluation.h"

#include <algorithm>
#include <map>

#include "analyzers/all/register_all.h"
#include "analyzers/registry/load.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/store/annotations.h"

namespace dmprof::cli {

namespace {

// Usable stored values by name. A damaged one is simply not there: it is computed again.
Result<std::map<std::string, MetricValue>> stored_values(const Reader& reader) {
  auto rows = reader.metrics();
  if (!rows) return tl::unexpected(rows.error());
  std::map<std::string, MetricValue> values;
  for (const StoredMetric& row : *rows) {
    const Metric* metric = catalogue().find(row.name);
    if (metric == nullptr || definition_hash(*metric) != row.definition) continue;
    if (auto value = report::parse_metric(row.json, row.name)) {
      guard(*value);
      values.emplace(row.name, std::move(*value));
    }
  }
  return values;
}

}  // namespace

const Catalogue& catalogue() {
  static const Catalogue all = full_catalogue();
  return all;
}

bool Evaluation::all_ok() const {
  return std::all_of(values.begin(), values.end(), [](const MetricValue& value) { return value.ok(); });
}

Result<Evaluation> evaluate(const Reader& reader, std::span<const std::string> names, const EvaluateOptions& options) {
  DMPROF_TRY(catalogue().check(names));
  std::map<std::string, MetricValue> known;
  const bool plain = !options.by && !options.slo.any() && !options.window_begin && !options.window_end;
  if (plain) {
    auto stored = stored_values(reader);
    if (!stored) return tl::unexpected(stored.error());
    known = std::move(*stored);
  }
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!known.contains(name)) missing.push_back(name);
  }
  Evaluation result;
  if (!missing.empty()) {
    auto recording = load_recording(reader, catalogue().events(missing));
    if (!recording) return tl::unexpected(recording.error());
    auto computed = catalogue().evaluate(missing, *recording, options);
    if (!computed) return tl::unexpected(computed.error());
    for (MetricValue& value : *computed) known[value.name] = std::move(value);
    result.note = recording->note;
  }
  if (missing.empty()) {
    // Stored values were computed over the same choice of process as values computed now.
    auto processes = reader.processes();
    if (!processes) return tl::unexpected(processes.error());
    if (processes->size() > 1) {
      auto recording = load_recording(reader, Events::none);
      if (!recording) return tl::unexpected(recording.error());
      result.note = recording->note;
    }
  }
  for (const std::string& name : names) result.values.push_back(known.at(name));
  return result;
}

Result<Evaluation> evaluate_and_store(const std::filesystem::path& recording) {
  const std::vector<std::string> names = catalogue().names();
  Evaluation result;
  {
    auto reader = Reader::open(recording.string());
    if (!reader) return tl::unexpected(reader.error());
    auto evaluated = evaluate(*reader, names, {});
    if (!evaluated) return tl::unexpected(evaluated.error());
    result = std::move(*evaluated);
  }
  std::vector<StoredMetric> rows;
  for (const MetricValue& value : result.values) {
    const Metric* metric = catalogue().find(value.name);
    if (metric != nullptr) rows.push_back({value.name, definition_hash(*metric), report::metric_json(value)});
  }
  auto annotations = Annotations::open(recording.string());
  if (!annotations) return tl::unexpected(annotations.error());
  DMPROF_TRY(annotations->store_metrics(rows));
  return result;
}

}  // namespace dmprof::cli
