// The rules that ship: each is read, linted and run against its own vectors.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyzers/all/register_all.h"
#include "rules/engine/diagnose.h"
#include "rules/engine/lint.h"
#include "rules/engine/row.h"

namespace dmprof::rules {
namespace {

std::vector<Rule> playbook() {
  const char* source = std::getenv("DMPROF_SOURCE_DIR");
  auto rules = load_rules(std::string(source == nullptr ? "." : source) + "/rules/playbook");
  EXPECT_TRUE(rules) << rules.error().message;
  if (!rules) return {};
  for (const Error& error : rules->refused) ADD_FAILURE() << error.message;
  return rules->rules;
}

// Their names are a contract: scripts and people refer to them.
TEST(Playbook, every_rule_of_the_manual_is_there) {
  std::set<std::string> ids;
  for (const Rule& rule : playbook()) ids.insert(rule.id);
  for (const char* id : {"bandwidth-underused",
                         "speculation-engine-contention",
                         "low-operational-intensity",
                         "capacity-exceeded",
                         "expert-imbalance",
                         "bandwidth-saturated",
                         "verify-compute-bound",
                         "draft-too-costly",
                         "lookahead-too-deep",
                         "lookahead-too-short",
                         "verify-too-expensive",
                         "draft-rarely-drafts",
                         "draft-broken",
                         "acceptance-drift",
                         "graph-off-stride",
                         "metastable-overload",
                         "host-bound",
                         "transfer-bound",
                         "launch-bound",
                         "kv-preemption",
                         "kv-cliff",
                         "admission-conservative",
                         "admission-aggressive",
                         "prefill-blocks-decode",
                         "chunk-too-small",
                         "prefix-below-block",
                         "prefix-hit-inflated",
                         "offload-tier-idle",
                         "kv-transfer-fragmented",
                         "pool-ratio",
                         "link-latency-bound",
                         "prefetch-late",
                         "prefetch-useless",
                         "cache-policy-irrelevant",
                         "cache-policy-gap",
                         "parameter-server-bound",
                         "degraded-read",
                         "all-reduce-bound",
                         "throttled",
                         "instrument-graph-replay",
                         "instrument-ratio",
                         "instrument-lifetime",
                         "instrument-frozen",
                         "instrument-reset",
                         "instrument-sentinel",
                         "instrument-phase-mix",
                         "instrument-settings"})
    EXPECT_TRUE(ids.contains(id)) << id;
}

TEST(Playbook, instrument_rules_are_marked_as_such) {
  for (const Rule& rule : playbook()) {
    if (!rule.id.starts_with("instrument-")) continue;
    EXPECT_TRUE(rule.distrusts) << rule.id;
  }
}

// Each pair looks alike and wants opposite fixes, so that both must never fire on one recording.
TEST(Playbook, neighbours_exclude_each_other) {
  const Catalogue catalogue = full_catalogue();
  std::map<std::string, Rule> rules;
  for (const Rule& rule : playbook()) rules[rule.id] = rule;
  auto sandbox = Sandbox::open(columns_of(catalogue));
  ASSERT_TRUE(sandbox);
  for (const auto& [one, other] :
       {std::pair("bandwidth-underused", "verify-compute-bound"),
        std::pair("bandwidth-underused", "low-operational-intensity"),
        std::pair("draft-too-costly", "verify-too-expensive"), std::pair("draft-too-costly", "draft-broken"),
        std::pair("lookahead-too-deep", "lookahead-too-short"),
        std::pair("admission-conservative", "admission-aggressive"), std::pair("prefetch-late", "prefetch-useless"),
        std::pair("parameter-server-bound", "degraded-read"), std::pair("link-latency-bound", "bandwidth-saturated")}) {
    for (const auto& [fires, quiet] : {std::pair(one, other), std::pair(other, one)}) {
      for (const Vector& vector : rules.at(fires).vectors) {
        if (vector.expect != Vector::Expect::fires) continue;
        const auto verdict = judge(rules.at(quiet), *sandbox, vector.metrics, rules.at(quiet).thresholds);
        ASSERT_TRUE(verdict) << verdict.error().message;
        EXPECT_NE(verdict->kind, Verdict::Kind::fires) << quiet << " fires on " << fires << ": " << vector.title;
      }
    }
  }
}

TEST(Playbook, has_nothing_to_complain_about) {
  const Catalogue catalogue = full_catalogue();
  for (const Complaint& complaint : lint(playbook(), catalogue))
    ADD_FAILURE() << complaint.rule << ": " << complaint.message;
}

TEST(Playbook, every_vector_does_what_it_says) {
  const Catalogue catalogue = full_catalogue();
  for (const Complaint& complaint : run_vectors(playbook(), catalogue))
    ADD_FAILURE() << complaint.rule << ": " << complaint.message;
}

TEST(Playbook, every_text_has_its_figures_filled_in_in_both_languages) {
  const Catalogue catalogue = full_catalogue();
  const auto filled = [](const Text& text, const std::string& rule) {
    for (const std::string* one : {&text.en, &text.zh}) {
      EXPECT_FALSE(one->empty()) << rule;
      EXPECT_EQ(one->find_first_of("{}"), std::string::npos) << rule << ": " << *one;
    }
  };
  for (const Rule& rule : playbook()) {
    int fired = 0, quiet = 0;
    for (const Vector& vector : rule.vectors) {
      std::vector<MetricValue> values;
      for (const Metric& metric : catalogue.metrics()) {
        const auto number = vector.metrics.find(metric.name);
        MetricValue value =
            number == vector.metrics.end() ? unavailable("not in the vector") : scalar(number->second, 9);
        value.name = metric.name, value.unit = metric.unit, value.kind = metric.kind;
        const auto percentile = [&](const char* which) {
          const auto found = vector.metrics.find(metric.name + which);
          return found == vector.metrics.end() ? 0.0 : found->second;
        };
        if (const double p50 = percentile("_p50"); p50 > 0 && metric.kind == MetricKind::distribution) {
          value.status = ValueStatus::ok, value.value = p50;
          value.spread = Spread{p50, p50, p50, percentile("_p99"), percentile("_p99")};
        }
        for (const std::string& part : metric.part_names) {
          const auto share = vector.metrics.find(metric.name + "_" + part);
          if (share == vector.metrics.end()) continue;
          value.status = ValueStatus::ok, value.value = 1;
          value.parts.push_back({part, share->second, 9, false});
        }
        values.push_back(value);
      }
      const auto diagnosis = diagnose(std::span(&rule, 1), catalogue, values, {});
      ASSERT_TRUE(diagnosis) << diagnosis.error().message;
      for (const Finding& finding : diagnosis->findings)
        filled(finding.because, rule.id), filled(finding.title, rule.id), ++fired;
      for (const InstrumentNote& note : diagnosis->instrument) filled(note.message, rule.id), ++fired;
      for (const Cleared& cleared : diagnosis->cleared)
        filled(cleared.because, rule.id), filled(cleared.title, rule.id), ++quiet;
    }
    EXPECT_GT(fired, 0) << rule.id;
    EXPECT_GT(quiet + (rule.distrusts ? 1 : 0), 0) << rule.id;  // a recording that can be believed is no news
  }
}

TEST(Playbook, holds_the_rules_of_the_manual_under_their_file_names) {
  std::vector<std::string> ids;
  for (const Rule& rule : playbook()) {
    ids.push_back(rule.id);
    EXPECT_TRUE(rule.file.ends_with("/" + rule.id + ".yaml")) << rule.file;
  }
  for (const char* id : {"bandwidth-underused", "speculation-engine-contention"})
    EXPECT_NE(std::find(ids.begin(), ids.end(), id), ids.end()) << id;
}

// A finding of the shipped rule, with every metric of its first firing vector and what is given besides.
Finding finding_of(const std::string& id, const std::vector<Knob>& knobs, std::map<std::string, double> metrics,
                   const std::string& command = "") {
  const Catalogue catalogue = full_catalogue();
  for (const Rule& rule : playbook()) {
    if (rule.id != id) continue;
    metrics.insert(rule.vectors.at(0).metrics.begin(), rule.vectors.at(0).metrics.end());
    std::vector<MetricValue> values;
    for (const auto& [name, number] : metrics) {
      MetricValue value = scalar(number, 100);
      value.name = name, value.unit = catalogue.find(name)->unit;
      values.push_back(value);
    }
    Context context;
    context.knobs = knobs, context.engine = "dm-simcard", context.command = command;
    const std::vector<Rule> rules = {rule};
    auto diagnosis = diagnose(rules, catalogue, values, context);
    EXPECT_TRUE(diagnosis) << diagnosis.error().message;
    if (diagnosis && diagnosis->findings.size() == 1) return diagnosis->findings[0];
  }
  ADD_FAILURE() << id << " did not fire";
  return {};
}

Knob knob(std::string name, std::string value, std::string how, std::string handle, std::string range,
          std::string type = "choice") {
  Knob result;
  result.name = std::move(name), result.value = std::move(value), result.how = std::move(how);
  result.handle = std::move(handle), result.range = std::move(range), result.type = std::move(type);
  return result;
}

std::vector<Knob> card_knobs() {
  return {knob("draft", "1b", "environment", "DM_DRAFT", "1b|3b"),
          knob("lookahead", "5", "environment", "DM_LOOKAHEAD", "0..16", "integer"),
          knob("cache_policy", "0", "environment", "DM_CACHE_POLICY", "0|1|2"),
          knob("interleave_sched", "0", "file", "/sys/module/dm_corsair/parameters/interleave_sched", "0|1"),
          knob("max_concurrent", "6", "environment", "DM_MAX_CONCURRENT", "1..64", "integer")};
}

std::vector<std::string> order(const Finding& finding) {
  std::vector<std::string> knobs;
  for (const SuggestedFix& fix : finding.fixes) knobs.push_back(fix.knob + (fix.trial ? " (trial)" : ""));
  return knobs;
}

const SuggestedFix& fix_of(const Finding& finding, const std::string& name) {
  static const SuggestedFix none;
  for (const SuggestedFix& fix : finding.fixes) {
    if (fix.knob == name) return fix;
  }
  ADD_FAILURE() << "no fix turns " << name;
  return none;
}

TEST(Playbook, a_card_gets_the_manuals_three_fixes_in_the_manuals_words) {
  const Finding finding = finding_of("bandwidth-underused", card_knobs(), {});
  const std::map<std::string, std::string> words = {{"draft", "export DM_DRAFT=3b"},
                                                    {"lookahead", "export DM_LOOKAHEAD=8"},
                                                    {"cache_policy", "export DM_CACHE_POLICY=2"}};
  for (const auto& [name, command] : words) {
    const SuggestedFix& fix = fix_of(finding, name);
    EXPECT_EQ(fix.command.at("dm-simcard"), command);
    EXPECT_EQ(fix.command.at("c8"), command);
  }
}

TEST(Playbook, contention_turns_both_knobs_in_the_manuals_words) {
  const Finding finding = finding_of("speculation-engine-contention", card_knobs(), {});
  EXPECT_EQ(fix_of(finding, "interleave_sched").command.at("dm-simcard"),
            "echo 1 > /sys/module/dm_corsair/parameters/interleave_sched");
  EXPECT_EQ(fix_of(finding, "max_concurrent").command.at("dm-simcard"), "export DM_MAX_CONCURRENT=4");
}

TEST(Playbook, without_evidence_a_longer_lookahead_is_a_trial_and_comes_last) {
  const std::vector<Knob> knobs = {knob("prefetch_distance", "4", "flag", "--prefetch-distance", "0..4096", "integer"),
                                   knob("lookahead", "5", "environment", "DM_LOOKAHEAD", "0..16", "integer")};
  const std::map<std::string, double> late = {{"prefetch_lateness", .4}, {"prefetch_accuracy", .9}};
  EXPECT_EQ(order(finding_of("bandwidth-underused", knobs, late)).at(0), "prefetch_distance");
  auto with = [&](double gain) {
    std::map<std::string, double> metrics = late;
    metrics["marginal_lookahead"] = gain;
    return order(finding_of("bandwidth-underused", knobs, metrics));
  };
  EXPECT_EQ(with(1.05).at(1), "lookahead");
  EXPECT_NE(std::find(with(.9).begin(), with(.9).end(), "lookahead (trial)"), with(.9).end());
  const std::vector<std::string> unknown = order(finding_of("bandwidth-underused", knobs, late));
  EXPECT_EQ(std::count(unknown.begin(), unknown.end(), "lookahead (trial)"), 1);
  EXPECT_NE(fix_of(finding_of("bandwidth-underused", knobs, late), "lookahead").note.en.find("for trial only"),
            std::string::npos);
}

TEST(Playbook, a_longer_distance_is_a_trial_where_prefetches_are_in_time_or_useless) {
  const std::vector<Knob> knobs = {knob("prefetch_distance", "4", "flag", "--prefetch-distance", "0..4096", "integer")};
  const auto first = [&](double lateness, double coverage, double accuracy) {
    return fix_of(
               finding_of(
                   "bandwidth-underused", knobs,
                   {{"prefetch_lateness", lateness}, {"prefetch_coverage", coverage}, {"prefetch_accuracy", accuracy}}),
               "prefetch_distance")
        .trial;
  };
  EXPECT_FALSE(first(.3, .95, .9));  // late
  EXPECT_FALSE(first(0, .3, .9));    // most misses are not covered
  EXPECT_TRUE(first(0, .95, .9));    // in time, and nearly all of them
  EXPECT_TRUE(first(.3, .3, .2));    // most are thrown out unused: further ahead wastes more
}

TEST(Playbook, an_engine_whose_draft_is_a_file_gets_words_and_nothing_to_type) {
  const Finding finding = finding_of(
      "bandwidth-underused", {knob("draft", "models/draft.gguf", "environment", "DM_DRAFT", "none|ngram|FILE", "path")},
      {}, "dm-engine --model m.gguf");
  const SuggestedFix& fix = fix_of(finding, "draft");
  EXPECT_EQ(fix.from, "models/draft.gguf");
  EXPECT_EQ(fix.to, "a larger draft model");
  EXPECT_EQ(fix.recorded_engine, "");
  for (const auto& [engine, command] : fix.command) EXPECT_EQ(command.find("3b"), std::string::npos) << engine;
}

}  // namespace
}  // namespace dmprof::rules
