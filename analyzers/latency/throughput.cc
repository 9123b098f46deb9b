#include <fmt/format.h>

#include "analyzers/latency/latency.h"
#include "analyzers/latency/lives.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"

namespace dmprof {
namespace {

MetricValue throughput(const View& view, const Scope& scope) {
  double tokens = 0;
  std::uint64_t rows = 0;
  RatioEstimate per_step;
  for (const SpeculationStep& row : view.speculation(scope)) {
    const Step* step = view.find_step(row.step);
    if (step == nullptr ||
        view.class_of(*step) != (scope.phase == Phase::prefill ? View::StepClass::prefill : View::StepClass::decode))
      continue;
    tokens += row.emitted;
    ++rows;
  }
  if (view.recording().speculation.empty()) return unavailable(reasons::no_speculation(view));
  const TimeNs wall = view.wall(scope);
  if (wall <= 0 || rows == 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value = scalar(tokens / (static_cast<double>(wall) / 1e9), static_cast<std::uint64_t>(tokens));
  // Interval from the steps' own rates, scaled to the wall time between and in them.
  for (const Step& step : view.steps(scope)) {
    double emitted = 0;
    for (const SpeculationStep& row : view.rows_of_step(step.step)) {
      if (!scope.request || row.request == *scope.request) emitted += row.emitted;
    }
    per_step.add(emitted, static_cast<double>(step.duration));
  }
  if (const auto interval = per_step.interval(); interval && per_step.ratio() > 0) {
    value.interval = ConfidenceInterval{*value.value * interval->low / per_step.ratio(),
                                        *value.value * interval->high / per_step.ratio()};
  }
  value.beside = {{"tokens", "tokens", tokens}, {"time", "ns", static_cast<double>(wall)}};
  return value;
}

// What the engine delivers while it works. Where requests come more slowly than it could serve them `throughput` is
// theirs to set, and a setting that costs speed does not show there; it shows here.
MetricValue decode_throughput(const View& view, const Scope& scope) {
  if (view.recording().speculation.empty()) return unavailable(reasons::no_speculation(view));
  constexpr double ns = 1e9;
  const auto units = static_cast<double>(view.units());
  RatioEstimate rate;
  double tokens = 0;
  for (const Step& step : view.steps(scope)) {
    double emitted = 0;
    for (const SpeculationStep& row : view.rows_of_step(step.step)) {
      if (!scope.request || row.request == *scope.request) emitted += row.emitted;
    }
    rate.add(emitted * ns * units, static_cast<double>(step.duration));
    tokens += emitted;
  }
  if (rate.denominator() <= 0 || tokens == 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value = scalar(rate.ratio(), static_cast<std::uint64_t>(tokens));
  value.interval = rate.interval();
  const auto wall = static_cast<double>(view.wall(scope));
  value.beside = {{"tokens", "tokens", tokens}, {"time in decode steps", "ns", rate.denominator()}};
  // Steps that overlap within a unit fill more than the wall.
  if (const double busy = rate.denominator() / units; busy <= wall)
    value.beside.push_back({"time in decode steps / wall time of decoding", "ratio", busy / wall});
  return value;
}

MetricValue goodput(const View& view, const Scope& scope) {
  const Objectives& slo = scope.slo;
  if (!slo.any())
    return unavailable("no objective was given; name one with --slo, for example --slo ttft=500ms,itl=50ms");
  const latency::Lives& lives = view.shared<latency::Lives>([&] { return latency::lives_of(view.recording()); });
  double tokens = 0;
  std::uint64_t met = 0, finished = 0;
  std::optional<TimeNs> begin, end;
  for (const auto& [request, life] : lives) {
    if (!life.arrive || !life.first_token || !life.end) continue;
    ++finished;
    begin = begin ? std::min(*begin, *life.arrive) : *life.arrive;
    end = end ? std::max(*end, *life.end) : *life.end;
    const auto within = [](const std::optional<TimeNs>& limit, double ns) {
      return !limit || ns <= static_cast<double>(*limit);
    };
    const std::optional<double> per_token = latency::time_per_output_token(life);
    double worst_gap = 0;
    for (std::size_t i = 1; i < life.emissions.size(); ++i) {
      if (life.emissions[i].baseline) continue;
      worst_gap = std::max(worst_gap, static_cast<double>(life.emissions[i].time - life.emissions[i - 1].time));
    }
    if (!within(slo.ttft, static_cast<double>(*life.first_token - *life.arrive)) ||
        !within(slo.e2e, static_cast<double>(*life.end - *life.arrive)) || !within(slo.tpot, per_token.value_or(0)) ||
        !within(slo.itl, worst_gap)) {
      continue;
    }
    ++met;
    tokens += static_cast<double>(life.output_tokens());
  }
  if (finished == 0) return unavailable("no request with its arrival, first token and end is in the recording");
  if (*end <= *begin) return unavailable("all requests begin and end at the same time");
  MetricValue value = scalar(tokens / (static_cast<double>(*end - *begin) / 1e9), finished);
  value.window = "whole run, first arrival to last end";
  value.beside = {
      {"requests that met the objective", "ratio", static_cast<double>(met) / static_cast<double>(finished)}};
  return value;
}

}  // namespace

void register_throughput(Catalogue& catalogue) {
  const Events events = Events::requests | Events::steps | Events::speculation;
  catalogue.add({.name = "throughput",
                 .unit = "tokens/s",
                 .definition = "output tokens emitted by decode steps / wall time of decoding, pauses included; "
                               "rejected drafts are no output",
                 .needs = "steps and speculation steps",
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .by = {By::window, By::request},
                 .compute = throughput});
  catalogue.add({.name = "decode_throughput",
                 .unit = "tokens/s",
                 .definition = "output tokens emitted by decode steps / time in decode steps, pauses between them left "
                               "out: what the engine delivers while it works, however seldom requests come; of several "
                               "cards, the rate of one on average times their number",
                 .needs = "steps and speculation steps",
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .by = {By::window},
                 .compute = decode_throughput});
  catalogue.add({.name = "goodput",
                 .unit = "tokens/s",
                 .definition = "output tokens of finished requests that met every objective of --slo (ttft; itl: the "
                               "longest gap, baseline steps left out; tpot; e2e) / time from "
                               "the first arrival to the last end",
                 .needs = "request events, speculation steps and --slo",
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .compute = goodput});
}

}  // namespace dmprof
