// Puts the three models together: what a question changes in each, and which figures follow. Private to this folder.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/whatif/acceptance.h"
#include "analyzers/whatif/cache_model.h"
#include "analyzers/whatif/costs.h"
#include "analyzers/whatif/figures.h"
#include "analyzers/whatif/settings.h"
#include "analyzers/whatif/whatif.h"

namespace dmprof::whatif {

class Predictor {
 public:
  Predictor(const Recording& recording, std::span<const MetricValue> metrics, std::vector<Profile> profiles);

  Prediction answer(const Asked& asked) const;
  const Recording& recording() const { return recording_; }

 private:
  using Values = std::map<std::string, std::string>;

  // A question on its way to an answer: what the serving model runs on.
  struct Plan {
    struct Variant {
      Serving serving;
      StepCosts costs;
    };
    Variant mid;
    std::vector<Variant> variants;  // the low and the high of one unknown after the other
    std::vector<std::string> assumptions;
    std::string reason;  // why there is no answer, "" = there is one
    std::optional<CacheEffect> cache;

    void vary(Variant low, Variant high);
  };

  std::uint32_t lookahead_of(const Values& values) const;
  const Profile* profile_with(const std::string& draft) const;
  bool on_real_clock() const;
  std::uint32_t limit_of(const Values& values) const;

  void plan_speculation(const Asked& asked, Plan& plan) const;
  void plan_cache(const Asked& asked, Plan& plan) const;
  void plan_queue(const Asked& asked, Plan& plan) const;
  void plan_extrapolation(Plan& plan) const;

  void add_figures(const Asked& asked, const Plan& plan, Prediction& prediction) const;
  Figure hit_rate(const Asked& asked, const Plan& plan) const;
  double error_of(const Range& change) const;

  const Recording& recording_;
  View view_;
  std::vector<Profile> profiles_;
  Values values_;  // of every knob, as recorded
  std::map<std::string, MetricValue> recorded_;
  StepCosts costs_;
  Load load_;
  specdec::Acceptance acceptance_;
  Serving before_;
  std::uint32_t seeds_ = 0;
  std::optional<Outcome> baseline_;
  double drift_ = 0, residual_ = 0;
  bool keeps_up_ = false;  // an open load that leaves the engine idle: arrivals set the throughput
  std::string lacking_;
  mutable std::optional<CacheModel> cache_;  // made when first asked for: it reads every access
};

}  // namespace dmprof::whatif
