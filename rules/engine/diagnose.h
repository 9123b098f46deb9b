// From metric values to a diagnosis: instrument checks first, then every rule; what it fires on, what it clears, what
// it could not judge. Pure: reads values, knobs and rules, touches no file and no clock.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzers/registry/catalogue.h"
#include "dmprof/base/error.h"
#include "rules/engine/rule.h"

namespace dmprof::rules {

struct BudgetPart {
  std::string part;
  double share = 0;
  bool critical = false;
};

struct Evidence {
  std::string metric;
  double value = 0;
  std::string unit, definition, window, subject;
  std::uint64_t samples = 0;
};

struct Gain {  // better by this factor, about 95 %
  double low = 0, mid = 0, high = 0;
  std::string metric = "throughput";  // of which
};

// What re-runs with a fix showed, beside runs as recorded (dmprof/experiment).
struct Measured {
  std::string verdict;                 // "confirmed", "no effect", "worse": by the objective
  std::string objective;               // "throughput", "tpot"
  std::uint64_t pairs = 0;             // of runs
  bool exact = false;                  // a simulation that repeats exactly: no noise
  std::map<std::string, Gain> ratios;  // after / before by metric
};

struct SuggestedFix {
  std::string knob;
  std::optional<std::string> from;  // nothing when the engine did not register the knob
  std::string to;
  Text note;
  Text plain_note;                             // the rule's own, without what is said of trials
  bool typed = true;                           // `to` is a value, not words
  bool trial = false;                          // nothing in the recording shows that it helps: try it last
  std::map<std::string, std::string> command;  // the recorded engine first, by name, then others
  std::string recorded_engine;         // key into `command` of what to type now; "" when the knob is not registered
  std::optional<Gain> predicted_gain;  // from the what-if models only (gains.h)
  // What it takes elsewhere: after / before of decode_throughput, where that falls and is not what the gain is of.
  std::optional<Gain> predicted_cost;
  std::string gain_reason;           // why there is none, "" when there is, or when nobody asked
  std::optional<Measured> measured;  // from re-runs only
};

struct Finding {
  std::string rule;
  Severity severity = Severity::warning;
  std::string confidence;
  std::string objective;  // of its fixes, as the rule says
  Text title;
  std::vector<Evidence> evidence;
  Text because;
  std::vector<std::string> checks;
  std::vector<SuggestedFix> fixes;
};

struct Cleared {
  std::string rule;
  Severity severity = Severity::warning;  // of the finding it would have been
  Text title;
  Text because;  // with the deciding number
};

struct NotEvaluated {
  std::string rule;
  std::string because;  // "compute_occupancy is unavailable: …"
};

struct RefusedRule {
  std::string rule;     // "" when the file holds no rule
  std::string because;  // file, line, column, what is wrong
};

struct InstrumentNote {
  // An instrument rule, or "instrument-ratio", "instrument-loss", "instrument-balance", "instrument-broken-off",
  // "instrument-too-short", "instrument-cut-off".
  std::string check;
  Severity severity = Severity::warning;
  Text message;
  std::vector<std::string> withheld;  // rules whose findings rest on what is distrusted
};

struct Diagnosis {
  std::vector<BudgetPart> budget;  // empty when time_budget is unavailable: see budget_reason
  std::string budget_reason;
  std::string limiting;           // the largest critical part of the budget, "" = none
  std::vector<Finding> findings;  // most severe first, then in order of rule id
  std::vector<InstrumentNote> instrument;
  std::vector<Cleared> cleared;
  std::vector<NotEvaluated> not_evaluated;
  std::vector<RefusedRule> refused;  // the others were judged all the same
};

struct Context {
  std::span<const Knob> knobs;
  std::string engine;                                 // "dm-engine", "" when unknown
  std::string command;                                // the recorded command line, "" when unknown
  std::map<std::string, std::string> variables = {};  // DM_* variables the recorded command ran under
  std::map<std::string, double> thresholds;           // "rule-id.name" overrides
  double tolerated_loss = 0.01;                       // share of emitted events
  bool broken_off = false;                            // the recorder did not get to finish the recording
  std::string too_short;  // why too few steps were recorded to judge an engine by, "" = enough: nobody is blamed then
  std::string cut_off;    // what the file lacks, "" = nothing
};

// The metrics the rules read, and those the budget and the instrument checks need. Evaluate these, then diagnose.
Result<std::vector<std::string>> metrics_needed(std::span<const Rule> rules, const Catalogue& catalogue);

Result<Diagnosis> diagnose(std::span<const Rule> rules, const Catalogue& catalogue, std::span<const MetricValue> values,
                           const Context& context);

}  // namespace dmprof::rules
