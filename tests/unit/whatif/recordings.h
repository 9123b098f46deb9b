// Small recordings whose predictions can be worked out by hand.
#pragma once

#include <string>
#include <vector>

#include "analyzers/whatif/whatif.h"
#include "tests/unit/registry/traces.h"

namespace dmprof::test {

inline void add_knob(Recording& recording, std::string name, std::string value, std::string range,
                     std::string type = "integer", std::string unit = "") {
  Knob knob;
  knob.process = 1, knob.name = std::move(name), knob.value = std::move(value), knob.range = std::move(range);
  knob.type = std::move(type), knob.unit = std::move(unit), knob.how = "flag", knob.handle = "--" + knob.name;
  recording.knobs.push_back(std::move(knob));
}

// One request at a time, each `tokens` long, drafting two tokens a step: 1 ms a draft token, 10 ms to verify, 1 ms of
// other work. Acceptance cycles through 2, 1, 2, 0 of 2: a_1 = 3/4, a_2 = 2/3. Closed load: a request follows the last.
inline Recording steady(std::uint32_t requests = 8, std::uint32_t steps_each = 20) {
  Trace trace;
  trace.warm_up();
  constexpr std::uint32_t accepted[] = {2, 1, 2, 0};
  for (std::uint64_t request = 1; request <= requests; ++request) {
    trace.request(request, RequestPoint::arrive, trace.now, 16);
    trace.request(request, RequestPoint::schedule, trace.now);
    for (std::uint32_t i = 0; i < steps_each; ++i)
      trace.step({.duration = 13 * ms,
                  .drafted = 2,
                  .accepted = accepted[i % 4],
                  .draft = 2 * ms,
                  .verify = 10 * ms,
                  .requests = {request}});
    trace.request(request, RequestPoint::end, trace.now, steps_each * 9 / 4);
  }
  add_knob(trace.recording, "lookahead", "2", "0..16");
  add_knob(trace.recording, "draft", "1b", "none|1b|3b", "choice");
  add_knob(trace.recording, "threads", "2", "1..256");
  return trace.done();
}

inline MetricValue known(std::string name, double value, std::string unit) {
  MetricValue metric;
  metric.name = std::move(name), metric.value = value, metric.unit = std::move(unit), metric.status = ValueStatus::ok;
  metric.spread = Spread{value, value, value, value, value};
  return metric;
}

// What the steady recording measures: 9/4 tokens in 13 ms.
inline std::vector<MetricValue> steady_values() {
  return {known("throughput", 2.25 / 0.013, "tokens/s"), known("step_time", 13e6, "ns"),
          known("acceptance_length", 2.25, "tokens/step"), known("itl", 13e6 / 2.25, "ns"),
          known("e2e_latency", 260e6, "ns")};
}

inline const whatif::Figure& figure(const whatif::Prediction& prediction, const std::string& name) {
  for (const whatif::Figure& one : prediction.figures) {
    if (one.metric == name) return one;
  }
  static const whatif::Figure none;
  return none;
}

}  // namespace dmprof::test
