#include "dmprof/report/prediction.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "dmprof/report/format.h"
#include "dmprof/report/metric_json.h"

namespace dmprof::report {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json range_json(const std::optional<whatif::Range>& range) {
  if (!range) return nullptr;
  return {{"low", number(range->low)}, {"mid", number(range->mid)}, {"high", number(range->high)}};
}

Json optional_json(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

std::string row(const whatif::Figure& figure) {
  const std::string recorded = figure.recorded ? quantity(*figure.recorded, figure.unit) : "unavailable";
  if (!figure.predicted)
    return fmt::format("  {:<18} {:>16}  unavailable: {}\n", figure.metric, recorded, printable(figure.reason));
  return fmt::format("  {:<18} {:>16}  {} ({} to {})\n", figure.metric, recorded,
                     quantity(figure.predicted->mid, figure.unit), quantity(figure.predicted->low, figure.unit),
                     quantity(figure.predicted->high, figure.unit));
}

}  // namespace

std::string prediction_text(const whatif::Prediction& prediction, const Style& style) {
  std::string changes;
  for (const whatif::Change& change : prediction.changes)
    changes += fmt::format("{}{} {} -> {}", changes.empty() ? "" : ", ", printable(change.knob), printable(change.from),
                           printable(change.to));
  std::string text = style.bold("What if") + " " + (changes.empty() ? "nothing changes" : changes) + "\n";
  if (!prediction.reason.empty()) text += fmt::format("  unavailable: {}\n", printable(prediction.reason));
  if (const auto gain = prediction.gain(prediction.objective))
    text += fmt::format("  {}: predicted {:.2f} to {:.2f} x better (mid {:.2f}){}\n", prediction.objective, gain->low,
                        gain->high, gain->mid,
                        prediction.objective == "throughput" ? "" : "; throughput is set by how requests arrive");
  text += fmt::format("\n  {:<18} {:>16}  predicted (about 95 %)\n", "", "recorded");
  for (const whatif::Figure& figure : prediction.figures) {
    if (prediction.reason.empty() || figure.reason != prediction.reason) text += row(figure);
    if (!prediction.reason.empty() && figure.reason == prediction.reason && figure.recorded)
      text += fmt::format("  {:<18} {:>16}  unavailable\n", figure.metric, quantity(*figure.recorded, figure.unit));
  }
  if (!prediction.assumptions.empty()) {
    text += "\n" + style.bold("Assumed") + "\n";
    for (const std::string& assumption : prediction.assumptions) text += fmt::format("  {}\n", printable(assumption));
  }
  if (prediction.throughput_residual) {
    text += fmt::format("\nThe model at the recorded settings against the recording: throughput {:+.1f} %",
                        *prediction.throughput_residual * 100);
    if (prediction.stall_residual)
      text += fmt::format(", waits for blocks {:+.1f} %", *prediction.stall_residual * 100);
    text += "\n";
  }
  return text;
}

std::string prediction_json(std::string_view run, const whatif::Prediction& prediction, std::string_view note) {
  Json object;
  object["run"] = run;
  object["changes"] = Json::array();
  for (const whatif::Change& change : prediction.changes)
    object["changes"].push_back({{"knob", change.knob}, {"from", change.from}, {"to", change.to}});
  object["status"] = prediction.reason.empty() ? "ok" : "unavailable";
  object["reason"] = prediction.reason;
  object["objective"] = prediction.objective;
  object["predicted_gain"] = range_json(prediction.gain(prediction.objective));
  object["metrics"] = Json::array();
  for (const whatif::Figure& figure : prediction.figures) {
    object["metrics"].push_back({{"name", figure.metric},
                                 {"unit", figure.unit},
                                 {"recorded", optional_json(figure.recorded)},
                                 {"predicted", range_json(figure.predicted)},
                                 {"gain", range_json(prediction.gain(figure.metric))},
                                 {"reason", figure.reason}});
  }
  object["assumptions"] = prediction.assumptions;
  object["residual"] = {{"throughput", optional_json(prediction.throughput_residual)},
                        {"stall", optional_json(prediction.stall_residual)}};
  if (!note.empty()) object["note"] = note;
  return dump(object) + "\n";
}

}  // namespace dmprof::report
