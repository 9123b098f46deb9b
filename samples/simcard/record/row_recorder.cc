#include "samples/simcard/record/row_recorder.h"

#include <fmt/format.h>

namespace dmprof::simcard {
namespace {

// The row sets it: there is nothing to type that would change it, so that it is a fact and not an offer.
void fixed_knob(const char* name, const std::string& value, const char* type, const char* unit) {
  const dmprof_knob knob{
      .name = name, .value = value.c_str(), .type = type, .range = "", .how = "", .handle = "", .unit = unit};
  dmprof_knob_register(&knob);
}

}  // namespace

ServeObserver* RowRecorder::serving(const ServeSpec& spec) {
  ran_ = true;
  session_.emplace();
  run_ = fmt::format("{} on {}, lookahead {}, at most {} requests in a step", spec.model.name, spec.hardware.name,
                     spec.speculation.lookahead, spec.most_active);
  if (!session_->attached()) return nullptr;
  recorded_ = true;
  fixed_knob("lookahead", std::to_string(spec.speculation.lookahead), "integer", "tokens");
  fixed_knob("max_concurrent", std::to_string(spec.most_active), "integer", "requests");
  node_ = std::make_unique<NodeRecorder>(spec, session_->clock());
  return node_.get();
}

CardObserver* RowRecorder::card(const CardParameters& parameters) {
  ran_ = true;
  const Settings& s = parameters.settings;
  card_ = std::make_unique<Recorder>(parameters, 1);
  run_ = fmt::format("a card, draft of {:g} billion parameters, lookahead {}, cache policy {}", s.draft_billions,
                     s.lookahead, s.cache_policy);
  if (!card_->attached()) return nullptr;
  recorded_ = true;
  fixed_knob("draft", fmt::format("{:g}b", s.draft_billions), "choice", "parameters");
  fixed_knob("lookahead", std::to_string(s.lookahead), "integer", "tokens");
  fixed_knob("cache_policy", std::to_string(s.cache_policy), "choice", "");
  fixed_knob("max_concurrent", std::to_string(s.max_concurrent), "integer", "requests");
  fixed_knob("interleave_sched", s.interleave ? "1" : "0", "choice", "");
  return card_->card(0);
}

std::string RowRecorder::remark(const std::string& row) const {
  if (!ran_)
    return fmt::format(
        "{} is computed in closed form: no request is served, so there are no events and nothing to record", row);
  if (!recorded_) return "";
  return fmt::format("of the runs that {} makes one is recorded: {}", row, run_);
}

}  // namespace dmprof::simcard
