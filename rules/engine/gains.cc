#include "rules/engine/gains.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace dmprof::rules {
namespace {

constexpr double worth_it = 1.01;  // less than a hundredth is nobody's gain

double weight(const std::string& confidence) {
  if (confidence == "high") return 1;
  return confidence == "medium" ? 0.7 : 0.4;
}

enum class Promise { certain, probable, unknown, none };

Promise promise(const SuggestedFix& fix) {
  if (!fix.predicted_gain) return Promise::unknown;
  if (fix.predicted_gain->mid < worth_it) return Promise::none;
  return fix.predicted_gain->low > 1 ? Promise::certain : Promise::probable;
}

// A rate falls by what a "better" factor says below 1, so that the factor is after / before as it is.
std::optional<Gain> cost_of(const whatif::Prediction& answer) {
  constexpr const char* rate = "decode_throughput";
  constexpr double noticed = 0.995;
  const auto change = answer.gain(rate);
  if (!change || answer.objective == rate || change->mid >= noticed) return std::nullopt;
  return Gain{change->low, change->mid, change->high, rate};
}

void take(SuggestedFix& fix, const Result<whatif::Prediction>& answer) {
  if (!answer) {
    fix.gain_reason = answer.error().message;
    return;
  }
  const auto gain = answer->gain(answer->objective);
  if (!gain) {
    fix.gain_reason = answer->reason.empty() ? "no prediction of " + answer->objective : answer->reason;
    return;
  }
  fix.predicted_gain = Gain{gain->low, gain->mid, gain->high, answer->objective};
  fix.predicted_cost = cost_of(*answer);
  fix.trial = promise(fix) == Promise::none;
  fix.note = fix.plain_note;
  if (fix.trial)
    fix.note = with_note({"for trial only, what-if predicts no gain", "仅供试验，假设分析预测没有收益"}, fix.note);
}

// Of the first fix, less what is not sure: 0 for none.
double worth(const Finding& finding) {
  if (finding.fixes.empty() || !finding.fixes.front().predicted_gain) return 0;
  return std::max(0.0, finding.fixes.front().predicted_gain->mid - 1) * weight(finding.confidence);
}

}  // namespace

void add_gains(Diagnosis& diagnosis, const Predict& predict) {
  std::map<std::pair<std::string, std::string>, Result<whatif::Prediction>> answers;  // rules share fixes
  for (Finding& finding : diagnosis.findings) {
    for (SuggestedFix& fix : finding.fixes) {
      if (!fix.from) {
        fix.gain_reason = "the engine registers no such knob";
      } else if (!fix.typed) {
        fix.gain_reason = "what to set it to is not known; try one and name its recording with dmprof whatif --profile";
      } else {
        auto found = answers.find({fix.knob, fix.to});
        if (found == answers.end()) {
          const std::array<whatif::Setting, 1> setting = {{{fix.knob, fix.to}}};
          found = answers.emplace(std::pair(fix.knob, fix.to), predict(setting)).first;
        }
        take(fix, found->second);
      }
    }
    const auto rank = [](const SuggestedFix& fix) {
      const bool sure = promise(fix) == Promise::certain || promise(fix) == Promise::probable;
      return std::tuple(promise(fix), sure ? -fix.predicted_gain->mid : 0.0, fix.trial);
    };
    std::stable_sort(finding.fixes.begin(), finding.fixes.end(),
                     [&](const SuggestedFix& a, const SuggestedFix& b) { return rank(a) < rank(b); });
  }
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(-static_cast<int>(a.severity), -worth(a)) < std::tuple(-static_cast<int>(b.severity), -worth(b));
  });
}

}  // namespace dmprof::rules
