#include "samples/simcard/fit/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "samples/simcard/fit/settings.h"
#include "samples/simcard/fit/settings_json.h"

namespace dmprof::twin {
namespace {

using Json = nlohmann::ordered_json;

std::string unit_of(const std::string& figure) {
  for (const FigureInfo& info : figure_list()) {
    if (info.name == figure) return info.unit;
  }
  return "";
}

// Times in milliseconds, the rest with three significant digits or more.
std::string human(double value, const std::string& unit) {
  if (unit == "ns") return fmt::format("{:.3f} ms", value / 1e6);
  if (unit == "ratio") return fmt::format("{:.3f}", value);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 3 : 1, unit);
}

Json shown_settings(const Settings& s) {
  Json json = settings_json(s);
  if (s.draft.empty()) json["draft"] = "none";  // as --set writes it
  return json;
}

}  // namespace

std::string fit_answer(const Fit& fit, const std::string& path) {
  std::string text = fmt::format("fitted to {} recording{} of {}: {}\n", fit.recordings.size(),
                                 fit.recordings.size() == 1 ? "" : "s", fit.engine, path);
  for (const FittedRecording& each : fit.recordings) {
    text += fmt::format("\n{}\n  {}\n  {:<20} {:>18} {:>18} {:>8}\n", each.file, describe(each.settings), "figure",
                        "recorded", "twin", "error");
    for (const FigureInfo& info : figure_list()) {
      const auto recorded = each.recorded.find(info.name), simulated = each.simulated.find(info.name);
      if (recorded == each.recorded.end() || simulated == each.simulated.end()) continue;
      text += fmt::format("  {:<20} {:>18} {:>18} {:>+7.1f}%\n", info.name, human(recorded->second, info.unit),
                          human(simulated->second, info.unit),
                          recorded->second == 0 ? 0.0 : 100 * (simulated->second / recorded->second - 1));
    }
  }
  for (const DraftCurve& curve : fit.curves) {
    text += fmt::format("\nacceptance of {} by position:", curve.draft);
    for (const AcceptanceCell& cell : curve.counts.by_position) {
      if (cell.reached > 0)
        text += fmt::format(" {:.3f}", static_cast<double>(cell.accepted) / static_cast<double>(cell.reached));
    }
    text += "\n";
  }
  return text + fmt::format("\nnext: dm-simcard predict {} --set lookahead=8,resident=4MiB\n", path);
}

std::string fit_json(const Fit& fit, const std::string& path) {
  Json json;
  json["file"] = path;
  json["engine"] = fit.engine;
  json["recordings"] = Json::array();
  for (const FittedRecording& each : fit.recordings) {
    Json figures = Json::array();
    for (const auto& [name, recorded] : each.recorded) {
      const auto simulated = each.simulated.find(name);
      if (simulated == each.simulated.end()) continue;
      Json one = {{"name", name},
                  {"unit", unit_of(name)},
                  {"recorded", recorded},
                  {"simulated", simulated->second},
                  {"error", nullptr}};
      if (recorded != 0) one["error"] = simulated->second / recorded - 1;
      figures.push_back(std::move(one));
    }
    json["recordings"].push_back(
        {{"file", each.file}, {"settings", shown_settings(each.settings)}, {"figures", std::move(figures)}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string prediction_answer(const Fit& fit, const Prediction& prediction) {
  std::string text =
      fmt::format("{}\n{}\n\n{:<20} {:>18}   {}\n", describe(prediction.settings),
                  prediction.profiled ? "profiled: these settings were recorded" : "held out: predicted, not recorded",
                  "figure", "predicted", "interval");
  for (const Predicted& each : prediction.figures) {
    text += fmt::format("{:<20} {:>18}   {} to {}\n", each.name, human(each.value, each.unit),
                        human(each.low, each.unit), human(each.high, each.unit));
  }
  text += "\nassumed:\n";
  for (const std::string& each : prediction.assumptions) text += "- " + each + "\n";
  return text + fmt::format(
                    "- the interval: the span of {} runs with other draws and of all unknown verdicts wrong or right, "
                    "widened by the twin's largest error on {} fitted recording{}\n",
                    kPredictionSeeds, fit.recordings.size(), fit.recordings.size() == 1 ? "" : "s");
}

std::string prediction_json(const Fit& fit, const Prediction& prediction) {
  Json json;
  json["engine"] = fit.engine;
  json["settings"] = shown_settings(prediction.settings);
  json["status"] = prediction.profiled ? "profiled" : "held_out";
  json["figures"] = Json::array();
  for (const Predicted& each : prediction.figures) {
    json["figures"].push_back(
        {{"name", each.name}, {"unit", each.unit}, {"value", each.value}, {"low", each.low}, {"high", each.high}});
  }
  json["assumptions"] = prediction.assumptions;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dmprof::twin
