#include "dmprof/cli/evaluation.h"

#include <algorithm>
#include <map>

#include "analyzers/all/register_all.h"
#include "analyzers/registry/load.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/store/annotations.h"

namespace dmprof::cli {

namespace {

// How a value was computed, and from what: one that differs in either is computed again.
std::string provenance(const Metric& metric, const std::string& contents_mark) {
  return definition_hash(metric) + "-" + contents_mark;
}

// Usable stored values by name. A damaged one, or one that cannot be read, is simply not there: it is computed again.
std::map<std::string, MetricValue> stored_values(const Reader& reader) {
  std::map<std::string, MetricValue> values;
  const auto rows = reader.metrics();
  if (!rows || rows->empty()) return values;
  const auto mark = reader.contents_mark();
  if (!mark) return values;
  for (const StoredMetric& row : *rows) {
    const Metric* metric = catalogue().find(row.name);
    if (metric == nullptr || provenance(*metric, *mark) != row.definition) continue;
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
  if (plain) known = stored_values(reader);
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
  std::string mark;
  {
    auto reader = Reader::open(recording.string());
    if (!reader) return tl::unexpected(reader.error());
    auto evaluated = evaluate(*reader, names, {});
    if (!evaluated) return tl::unexpected(evaluated.error());
    result = std::move(*evaluated);
    auto contents = reader->contents_mark();
    if (!contents) return tl::unexpected(contents.error());
    mark = std::move(*contents);
  }
  std::vector<StoredMetric> rows;
  for (const MetricValue& value : result.values) {
    const Metric* metric = catalogue().find(value.name);
    if (metric != nullptr) rows.push_back({value.name, provenance(*metric, mark), report::metric_json(value)});
  }
  auto annotations = Annotations::open(recording.string());
  if (!annotations) return tl::unexpected(annotations.error());
  DMPROF_TRY(annotations->store_metrics(rows));
  return result;
}

}  // namespace dmprof::cli
