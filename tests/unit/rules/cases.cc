#include "tests/unit/rules/cases.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "analyzers/all/register_all.h"
#include "analyzers/specdec/model.h"
#include "tests/unit/registry/traces.h"

namespace dmprof::rules::cases {
namespace {

using test::ms;
using test::Trace;

// What a word of the reports is.
enum class Kind {
  metric,   // a metric of the catalogue, times a factor
  events,   // goes into the recording that is built (build() below) and comes back through the analyzers
  formula,  // an input of the speculation model
  context,  // an outcome or a circumstance that nothing is concluded from
  gate,     // about comparing runs
};
struct Key {
  Kind kind;
  const char* metric = "";
  double factor = 1;
};

// The one table: a report's word to a metric, to events and environment of a recording, or to a formula.
const std::map<std::string, Key>& keys() {
  constexpr double giga = 1e9;
  static const std::map<std::string, Key> all = {
      {"speculation_accuracy", {Kind::metric, "speculation_accuracy"}},
      {"draft_length_mean", {Kind::metric, "draft_length"}},
      {"throughput_change", {Kind::context}},
      {"target_tps", {Kind::formula}},
      {"draft_tps", {Kind::formula}},
      {"verify_tps", {Kind::formula}},
      {"emitted", {Kind::formula}},
      {"measured_tps", {Kind::formula}},
      {"accepted", {Kind::events}},
      {"drafted", {Kind::events}},
      {"draft_tokens", {Kind::events}},
      {"steps", {Kind::events}},
      {"drafts", {Kind::events}},
      {"by_position", {Kind::events}},
      {"draft_ms", {Kind::context}},
      {"eval_ms", {Kind::context}},
      {"step_ms_off", {Kind::events}},
      {"step_ms_on_k0", {Kind::events}},
      {"batch", {Kind::events}},
      {"core_busy", {Kind::metric, "device_busy_share"}},
      {"one_cpu_core", {Kind::metric, "host_core_busy"}},
      {"expert_cache_hit", {Kind::metric, "prefetch_hit_rate"}},
      {"cache_policy_gap", {Kind::metric, "cache_policy_gap"}},
      {"misses_on_link_share", {Kind::events}},
      {"overlap", {Kind::events}},
      {"tps", {Kind::context}},
      {"tps_resident", {Kind::context}},
      {"link_gbs", {Kind::events}},
      {"link_peak_gbs", {Kind::events}},
      {"read_mbs", {Kind::events}},
      {"device_peak_mbs", {Kind::events}},
      {"launches_per_token", {Kind::metric, "launches_per_token"}},
      {"launches_per_step", {Kind::metric, "launches_per_step"}},
      {"layers", {Kind::metric, "model_layers"}},
      {"oom", {Kind::metric, "oom_events"}},
      {"device_free_gb", {Kind::metric, "device_free_bytes", giga}},
      {"pinned_request_gb", {Kind::metric, "pinned_request_bytes", giga}},
      {"dense_bw_util", {Kind::metric, "dense_kernel_bandwidth"}},
      {"moe_bw_util", {Kind::metric, "routed_kernel_bandwidth"}},
      {"measured_peak_gbs", {Kind::context}},
      {"moe_step_ms", {Kind::context}},
      {"moe_excess_ms", {Kind::context}},
      {"device_busy", {Kind::metric, "link_utilization"}},
      {"queue_depth", {Kind::metric, "link_queue_depth"}},
      {"hard_faults_per_s", {Kind::context}},
      {"cpu", {Kind::metric, "host_core_busy"}},
      {"rounds", {Kind::events}},
      {"hit", {Kind::events}},
      {"cpu_time_in_sync_call", {Kind::metric, "host_sync_share"}},
      {"gpu_busy", {Kind::metric, "device_busy_share"}},
      {"device_idle_from_trace", {Kind::events}},
      {"graph_replay", {Kind::context}},
      {"throttle_reason", {Kind::events}},
      {"throttle_share", {Kind::events}},
      {"sm_clock_ratio", {Kind::events}},
      {"memory_clock_ratio", {Kind::events}},
      {"limiting_tier", {Kind::events}},
      {"prometheus_value", {Kind::events}},
      {"value", {Kind::events}},
      {"cache_hit_rate_after_decode", {Kind::events}},
      {"gen_throughput_idle", {Kind::events}},
      {"tps_baseline", {Kind::gate}},
      {"device_kernels", {Kind::gate}},
      {"backend", {Kind::gate}},
      {"backend_baseline", {Kind::gate}},
      {"baseline_tps", {Kind::gate}},
      {"candidate_tps", {Kind::gate}},
      {"cv", {Kind::gate}},
      {"runs", {Kind::gate}},
      {"within_job_cv", {Kind::gate}},
      {"between_job_spread", {Kind::gate}},
      {"candidate", {Kind::gate}},
      {"stored_baseline", {Kind::gate}},
      {"recent_baseline", {Kind::gate}},
  };
  return all;
}

void set_knob(Trace& trace, const char* name, double value) {
  Knob knob;
  knob.name = name, knob.value = fmt::format("{:g}", value), knob.since = trace.now;
  trace.recording.knobs.push_back(knob);
}

void counter(Trace& trace, const std::string& name, TimeNs time, double value) {
  NameId id = 0;
  for (const auto& [known, text] : trace.recording.names) {
    if (text == name) id = known;
  }
  if (id == 0) id = static_cast<NameId>(1000 + trace.recording.names.size()), trace.recording.names[id] = name;
  Counter event;
  event.track = 1, event.time = time, event.name = id, event.value = value;
  trace.recording.counters.push_back(event);
}

// Steps whose rows accept so many tokens each; one row a step.
void steps_of(Trace& trace, std::size_t steps, std::uint32_t drafted, double accepted_in_all, TimeNs duration) {
  const auto total = static_cast<std::uint64_t>(std::llround(accepted_in_all));
  for (std::size_t i = 0; i < steps; ++i) {
    const auto share = static_cast<std::uint32_t>((i + 1) * total / steps - i * total / steps);
    trace.step({.duration = duration, .drafted = drafted, .accepted = share, .verify = duration});
  }
}

// Drafting steps from the counts of a report.
void counted_steps(Trace& trace, const Given& given) {
  const auto number = [&](const char* a, const char* b) -> std::optional<double> {
    for (const char* name : {a, b}) {
      if (const auto found = given.number.find(name); found != given.number.end()) return found->second;
    }
    return std::nullopt;
  };
  const auto positions = given.list.find("by_position");
  const double steps = number("steps", "drafts").value_or(1000);
  if (positions == given.list.end()) {
    const auto n = static_cast<std::uint32_t>(std::lround(*number("drafted", "draft_tokens") / steps));
    steps_of(trace, static_cast<std::size_t>(steps), n, given.number.at("accepted"), 10 * ms);
    return;
  }
  const auto n = static_cast<std::uint32_t>(positions->second.size());
  const double missing = steps * n - number("drafted", "draft_tokens").value_or(steps * n);  // drafts that were shorter
  for (double i = 0; i < steps; ++i) {
    std::uint32_t accepted = 0;
    for (const double share : positions->second) accepted += i < std::round(share * steps) ? 1 : 0;
    trace.step({.drafted = i >= steps - missing ? n - 1 : n, .accepted = accepted});
  }
}

// Settings that ran one after the other; the deepest runs last and is the one to be judged.
void settings_in_turn(Trace& trace, std::vector<Entry> series) {
  std::stable_sort(series.begin(), series.end(),
                   [](const Entry& a, const Entry& b) { return a.number.at("n") < b.number.at("n"); });
  trace.warm_up();
  for (const Entry& entry : series) {
    const auto has = [&](const char* name) { return entry.number.contains(name); };
    const double n = entry.number.at("n");
    constexpr std::size_t steps = 100;
    const double accepted = has("length") ? entry.number.at("length") - 1 : has("acc") ? entry.number.at("acc") * n : 0;
    set_knob(trace, "lookahead", n);
    if (has("p_min")) set_knob(trace, "draft_p_min", entry.number.at("p_min"));
    const auto duration = static_cast<TimeNs>((1 + accepted) / entry.number.at("tps") * 1e9);
    steps_of(trace, steps, static_cast<std::uint32_t>(n), accepted * steps, duration);
  }
}

void kv_sizes_in_turn(Trace& trace, const std::vector<Entry>& series) {
  std::uint64_t request = 0;
  for (const Entry& entry : series) {
    set_knob(trace, "kv_blocks", entry.number.at("kv_blocks"));
    const auto wait = static_cast<TimeNs>(entry.number.at("ttft_p99_ms") * 1e6);
    constexpr int requests = 100;
    for (int i = 0; i < requests; ++i) {
      trace.request(++request, RequestPoint::arrive, trace.now, 100);
      if (i < entry.number.at("preempt") * requests) trace.request(request, RequestPoint::preempt, trace.now + 1, 50);
      trace.request(request, RequestPoint::first_token, trace.now + wait, 1);
    }
    for (int i = 0; i < 10; ++i) trace.step({.duration = wait / 5});
  }
}

void build(Trace& trace, const Given& given) {
  const auto has = [&](const char* word) { return given.number.contains(word) || given.text.contains(word); };
  const auto number = [&](const char* word) { return given.number.at(word); };
  if (given.list.contains("by_position") || has("drafts")) counted_steps(trace, given);
  if (!given.series.empty() && given.series[0].number.contains("n")) settings_in_turn(trace, given.series);
  if (!given.series.empty() && given.series[0].number.contains("kv_blocks")) kv_sizes_in_turn(trace, given.series);
  if (has("step_ms_off")) {
    std::vector<std::uint64_t> requests;
    for (double i = 0; i < number("batch"); ++i) requests.push_back(static_cast<std::uint64_t>(i) + 1);
    trace.warm_up();
    for (int i = 0; i < 10; ++i) {
      const auto step = [&](const char* word, StepCut cut) {
        const auto time = static_cast<TimeNs>(number(word) * 1e6);
        trace.step({.duration = time, .verify = time, .cut = cut, .requests = requests});
      };
      step("step_ms_off", StepCut::baseline);
      step("step_ms_on_k0", StepCut::whole);
    }
  }
  if (has("throttle_reason")) {  // decode steps on the side of the ridge that the report names
    trace.recording.environment = {{"calibration.flops", "1e12"}, {"calibration.read_bandwidth", "1e10"}};
    const bool memory = given.text.at("limiting_tier") == "memory";
    counter(trace, "throttle." + given.text.at("throttle_reason"), 0, number("throttle_share"));
    counter(trace, "clock_ratio", 0, number("sm_clock_ratio"));
    counter(trace, "memory_clock_ratio", 0, number("memory_clock_ratio"));
    for (int i = 0; i < 10; ++i) trace.step({.parameter_bytes = 1000, .flops = memory ? 2000u : 2'000'000u});
  }
  if (has("prometheus_value") || has("value")) {
    const bool words = given.text.contains("prometheus_value");  // what is no number arrives as NaN
    const double reading = words ? std::numeric_limits<double>::quiet_NaN() : number("value");
    counter(trace, reading_metric, 0, reading);
    for (int i = 0; i < 10; ++i) trace.step({});
    counter(trace, reading_metric, trace.now, reading);
  }
  if (has("gen_throughput_idle")) {
    for (int i = 0; i < 10; ++i) {
      counter(trace, "gen_throughput", trace.now, 100 + i);
      trace.step({});
    }
    for (int i = 1; i <= 5; ++i) {
      counter(trace, "gen_throughput", trace.now + i * ms, 109);
      counter(trace, "cache_hit_rate", trace.now + i * ms, number("cache_hit_rate_after_decode"));
    }
  }
}

void put(std::vector<MetricValue>& values, const std::string& name, MetricValue value, const Catalogue& catalogue) {
  const Metric* metric = catalogue.find(name);
  ASSERT_NE(metric, nullptr) << "the key table names " << name << ", which is no metric";
  value.name = name, value.unit = metric->unit, value.kind = metric->kind;
  value.definition = metric->definition, value.window = "as reported";
  std::erase_if(values, [&](const MetricValue& known) { return known.name == name; });
  values.push_back(std::move(value));
}

MetricValue budget_of(const std::map<std::string, double>& parts, const Catalogue& catalogue) {
  MetricValue budget = scalar(1, 100);
  double rest = 1;
  for (const auto& [name, share] : parts) rest -= share;
  for (const std::string& name : catalogue.find("time_budget")->part_names) {
    const auto given = parts.find(name);
    budget.parts.push_back({name, given != parts.end() ? given->second : name == "verify" ? rest : 0.0, 100, false});
  }
  return budget;
}

// Metrics that a report states by two of its words.
void derive(std::vector<MetricValue>& values, const Given& given, const Catalogue& catalogue) {
  const auto has = [&](const char* word) { return given.number.contains(word); };
  const auto number = [&](const char* word) { return given.number.at(word); };
  if (has("link_gbs"))
    put(values, "bandwidth_utilization", scalar(number("link_gbs") / number("link_peak_gbs"), 100), catalogue);
  if (has("read_mbs"))
    put(values, "bandwidth_utilization", scalar(number("read_mbs") / number("device_peak_mbs"), 100), catalogue);
  if (has("device_idle_from_trace"))
    put(values, "device_busy_share", scalar(1 - number("device_idle_from_trace"), 100), catalogue);
  // A thread that sits in a synchronisation call can do other work for the rest of its time at most.
  if (has("cpu_time_in_sync_call"))
    put(values, "host_core_busy", scalar(1 - number("cpu_time_in_sync_call"), 100), catalogue);
  std::map<std::string, double> budget = given.budget;
  if (has("misses_on_link_share"))  // what of the misses does not hide behind other work
    budget["memory_stall"] = number("misses_on_link_share") * (1 - number("overlap"));
  if (!budget.empty()) put(values, "time_budget", budget_of(budget, catalogue), catalogue);
}

Answer answer_to(const Given& given, const std::map<std::string, double>& more, const std::string& rounds) {
  static const Catalogue catalogue = full_catalogue();
  Answer answer;
  Trace trace;
  build(trace, given);
  if (!rounds.empty()) trace.recording.environment["workload.rounds"] = rounds;
  static const std::vector<std::string> names = [] {
    auto needed = metrics_needed(playbook(), catalogue);
    EXPECT_TRUE(needed) << needed.error().message;
    needed->insert(needed->end(), {"acceptance_by_position", reading_metric});
    return *needed;
  }();
  auto values = catalogue.evaluate(names, trace.done());
  EXPECT_TRUE(values) << values.error().message;
  answer.values = std::move(*values);
  for (const auto& [word, reported] : given.number) {
    const Key& key = keys().at(word);
    if (key.kind == Kind::metric) put(answer.values, key.metric, scalar(reported * key.factor, 100), catalogue);
  }
  for (const auto& [name, reported] : more) put(answer.values, name, scalar(reported, 100), catalogue);
  derive(answer.values, given, catalogue);

  Context context;
  context.knobs = trace.recording.knobs;
  auto diagnosis = diagnose(playbook(), catalogue, answer.values, context);
  EXPECT_TRUE(diagnosis) << diagnosis.error().message;
  answer.diagnosis = std::move(*diagnosis);
  EXPECT_TRUE(answer.diagnosis.refused.empty());
  for (const Finding& finding : answer.diagnosis.findings) {
    answer.fired.insert(finding.rule);
    answer.text += fmt::format("{}: {}\n", finding.rule, finding.because.en);
  }
  for (const InstrumentNote& note : answer.diagnosis.instrument) {
    answer.fired.insert(note.check);
    answer.text += fmt::format("{}: {}\n", note.check, note.message.en);
  }
  for (const Cleared& cleared : answer.diagnosis.cleared)
    answer.text += fmt::format("cleared {}: {}\n", cleared.rule, cleared.because.en);
  if (given.number.contains("measured_tps")) {
    const auto number = [&](const char* word) { return given.number.at(word); };
    // In steps of one token: a step emits E, drafts N at c each and verifies N+1 for v.
    const double target = number("target_tps"), steps = number("emitted") - number("accepted");
    const double n = number("drafted") / steps, c = target / number("draft_tps");
    const double v = 1 + n * target / number("verify_tps");
    answer.predicted = target * specdec::speedup(number("emitted") / steps, v, n, c);
    answer.measured = number("measured_tps");
  }
  return answer;
}

}  // namespace

const std::vector<Rule>& playbook() {
  static const std::vector<Rule> rules = [] {
    const char* source = std::getenv("DMPROF_SOURCE_DIR");
    auto loaded = load_rules(std::string(source == nullptr ? "." : source) + "/rules/playbook");
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? loaded->rules : std::vector<Rule>();
  }();
  return rules;
}

Given read(const YAML::Node& given) {
  Given result;
  for (const auto& entry : given) {
    const std::string word = entry.first.as<std::string>();
    const YAML::Node& node = entry.second;
    if (word == "series") {
      for (const YAML::Node& one : node) {
        if (!one.IsMap()) {
          result.for_the_gate = true;  // one value after the other
          continue;
        }
        Entry read_entry;
        for (const auto& pair : one) read_entry.number[pair.first.as<std::string>()] = pair.second.as<double>();
        result.series.push_back(std::move(read_entry));
      }
      continue;
    }
    if (word == "budget") {
      for (const auto& part : node) result.budget[part.first.as<std::string>()] = part.second.as<double>();
      continue;
    }
    const auto key = keys().find(word);
    if (key == keys().end()) {
      result.unknown_words.push_back(word);
      continue;
    }
    result.for_the_gate = result.for_the_gate || key->second.kind == Kind::gate;
    double number = 0;
    if (node.IsSequence()) {
      for (const YAML::Node& one : node) result.list[word].push_back(one.as<double>());
    } else if (node.Tag() != "!" && YAML::convert<double>::decode(node, number)) {  // "!": a quoted text
      result.number[word] = number;
    } else {
      result.text[word] = node.Scalar();
    }
  }
  return result;
}

std::vector<Answer> evaluate(const Given& given) {
  if (!given.list.contains("hit")) return {answer_to(given, {}, "")};
  std::vector<Answer> answers;
  const std::vector<double>& hits = given.list.at("hit");
  for (std::size_t round = 0; round < hits.size(); ++round)
    answers.push_back(answer_to(given, {{"prefix_cache_hit_rate", hits[round]}}, std::to_string(round + 1)));
  return answers;
}

}  // namespace dmprof::rules::cases
