#include "samples/simcard/scenario/table_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "samples/simcard/scenario/run_settings.h"

namespace dmprof::simcard {
namespace {

struct Knob {
  FittedParameter parameter;
  void (*set)(RunSettings& run, double value);
};

// In the order of their effect. The fixed rest (memory bandwidth, energies, the number of engines) is the article's or
// assumed; see the preset.
std::vector<Knob> knobs() {
  return {
      {{"residuals.host", "ms", 9, 10}, [](RunSettings& r, double v) { r.spec.hardware.residuals.host = v * 1e-3; }},
      {{"card.compute achieved", "TFLOP/s", 160, 170},
       [](RunSettings& r, double v) { r.spec.hardware.compute_achieved = v * 1e12 / r.spec.hardware.peak_compute; }},
      {{"acceptance", "", 0.775, 0.78}, [](RunSettings& r, double v) { r.spec.speculation.acceptance = {v}; }},
      {{"residuals.jitter_sigma", "", 0.165, 0.175},
       [](RunSettings& r, double v) { r.spec.hardware.residuals.jitter_sigma = v; }},
      {{"residuals.stall_mean", "ms", 46, 52},
       [](RunSettings& r, double v) { r.spec.hardware.residuals.stall_mean = v * 1e-3; }},
      {{"residuals.stall_probability", "%", 0.35, 0.45},
       [](RunSettings& r, double v) { r.spec.hardware.residuals.stall_probability = v * 1e-2; }},
      {{"speculation.draft_token", "ms", 0.10, 0.12},
       [](RunSettings& r, double v) { r.spec.hardware.draft_token = v * 1e-3; }},
      // 9 to 15 us an all-reduce: 2 (R - 1) hops of it
      {{"link.latency", "us", 0.64, 1.07}, [](RunSettings& r, double v) { r.spec.hardware.link.latency = v * 1e-6; }},
  };
}

// What is printed is what was run: four digits.
double rounded(double value) { return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr); }

class Search {
 public:
  Search(const Scenario& row, RunSettings run, std::vector<double> batches, double steps)
      : row_(row), run_(std::move(run)), batches_(std::move(batches)), steps_(steps), knobs_(knobs()) {
    for (Knob& knob : knobs_) knob.parameter.value = rounded((knob.parameter.low + knob.parameter.high) / 2);
  }

  Result<TableFit> fit() {
    Result<double> best = cost();
    if (!best) return tl::unexpected(best.error());
    for (double reach = 0.25; reach >= 0.03; reach /= 2) {
      for (bool better = true; better;) {
        better = false;
        for (Knob& knob : knobs_) {
          for (const double direction : {1.0, -1.0}) {
            FittedParameter& p = knob.parameter;
            const double before = p.value;
            p.value = rounded(std::clamp(before + direction * reach * (p.high - p.low), p.low, p.high));
            if (p.value == before) continue;
            const Result<double> now = cost();
            if (!now) return tl::unexpected(now.error());
            if (*now < *best) {
              best = now;
              better = true;
              break;
            }
            p.value = before;
          }
        }
      }
    }
    return result();
  }

 private:
  // The largest residual counts; among equals the smaller sum.
  Result<double> cost() {
    ++evaluations_;
    RunSettings run = with_parameters();
    run.spec.seed += 1000;
    Figures figures;
    for (const double batch : batches_) {
      constexpr double tokens_a_step = 3.5;
      run.spec.requests = std::max<std::int64_t>(
          static_cast<std::int64_t>(2 * batch),
          static_cast<std::int64_t>(steps_ * tokens_a_step * batch / std::max(1.0, run.outputs.typical)));
      DMPROF_TRY(serve(run, batch, figures));
    }
    const Result<Outcome> outcome = judge(row_, std::move(figures));
    if (!outcome) return tl::unexpected(outcome.error());
    double worst = 0, squares = 0;
    for (const Compared& c : outcome->compared) {
      worst = std::max(worst, std::abs(c.residual));
      squares += c.residual * c.residual;
    }
    return worst + 0.1 * std::sqrt(squares / static_cast<double>(outcome->compared.size()));
  }

  Result<TableFit> result() {
    Figures figures;
    const RunSettings run = with_parameters();
    for (const double batch : batches_) DMPROF_TRY(serve(run, batch, figures));
    const Result<Outcome> outcome = judge(row_, std::move(figures));
    if (!outcome) return tl::unexpected(outcome.error());
    TableFit fit;
    fit.figures = outcome->compared;
    for (const Compared& c : fit.figures) fit.worst = std::max(fit.worst, std::abs(c.residual));
    for (const Knob& knob : knobs_) fit.parameters.push_back(knob.parameter);
    fit.evaluations = evaluations_;
    return fit;
  }

  RunSettings with_parameters() const {
    RunSettings run = run_;
    for (const Knob& knob : knobs_) knob.set(run, knob.parameter.value);
    return run;
  }

  static Status serve(const RunSettings& run, double batch, Figures& figures) {
    const auto users = static_cast<std::int64_t>(batch);
    const Result<ServeResult> result = run.closed_loop(users);
    if (!result) return tl::unexpected(result.error());
    figures.push_back({fmt::format("tokens_per_s_batch_{}", users), result->throughput, "tokens/s"});
    figures.push_back({fmt::format("p99_step_ms_batch_{}", users), result->step_time.p99 * 1e3, "ms"});
    return {};
  }

  const Scenario& row_;
  RunSettings run_;
  std::vector<double> batches_;
  double steps_;
  std::vector<Knob> knobs_;
  std::size_t evaluations_ = 0;
};

}  // namespace

Result<TableFit> fit_table(const Scenario& row, double steps) {
  if (row.experiment != "batch-table")
    return fail(ErrorKind::bad_input, fmt::format("{}:1: experiment: {} is no batch-table; only such a row is fitted",
                                                  row.file, row.experiment));
  Scenario claimed = row;
  claimed.reason = "being fitted";  // a figure may contradict the claim on the way
  Section settings = row.settings;
  Result<RunSettings> run = read_run(settings, static_cast<std::uint64_t>(row.seed));
  if (!run) return tl::unexpected(run.error());
  std::vector<double> batches = settings.quantities("batches", Quantity::number);
  for (const double batch : batches) {
    if (batch < 1 || batch > 4096) settings.complain("batches", "must hold numbers from 1 to 4096");
  }
  DMPROF_TRY(settings.finish());
  return Search(claimed, std::move(*run), std::move(batches), steps).fit();
}

std::string table_fit_text(const TableFit& fit) {
  std::string text = fmt::format("{:<28} {:>10} {:<8} within\n", "parameter", "fitted", "");
  for (const FittedParameter& p : fit.parameters)
    text += fmt::format("{:<28} {:>10.4g} {:<8} {:g} to {:g}\n", p.name, p.value, p.unit, p.low, p.high);
  text += fmt::format("\n{:<28} {:>10} {:>8} {:>9}\n", "figure", "claimed", "model", "residual");
  for (const Compared& c : fit.figures)
    text += fmt::format("{:<28} {:>10.4g} {:>8.4g} {:>+8.1f} %\n", c.claimed.figure, c.claimed.says.value_or(0),
                        c.value, 100 * c.residual);
  return text + fmt::format("\nlargest residual {:.1f} % after {} evaluations of the table\n", 100 * fit.worst,
                            fit.evaluations);
}

}  // namespace dmprof::simcard
