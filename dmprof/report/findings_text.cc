#include "dmprof/report/findings_text.h"

#include <set>
#include <string_view>
#include <utility>

#include "dmprof/report/format.h"

namespace dmprof::report {

namespace {

// What the report has told so far.
struct Told {
  std::set<std::string> definitions;
  std::set<std::pair<std::string, std::string>> fixes;  // knob, value
  bool other_engines = false;
};

std::string coloured_verdict(const rules::Measured& measured, const Voice& voice) {
  if (measured.verdict == "confirmed") return voice.style.good(voice.say.confirmed);
  if (measured.verdict == "worse") return voice.style.bad(voice.say.worse);
  return voice.style.warn(voice.say.no_effect);
}

// The objective first, then what else a person would ask about.
std::string measured_text(const rules::Measured& measured, const Voice& voice) {
  const Phrases& say = voice.say;
  std::string figures;
  std::vector<std::string> names = {measured.objective};
  for (const std::string_view name : {"throughput", "decode_throughput", "tpot", "itl.p99", "ttft", "e2e_latency",
                                      "step_time", "prefetch_hit_rate"}) {
    if (name != measured.objective) names.emplace_back(name);
  }
  for (const std::string& name : names) {
    const auto found = measured.ratios.find(name);
    if (found == measured.ratios.end()) continue;
    const rules::Gain& ratio = found->second;
    figures += fmt::format("{}{} {:.2f} x", figures.empty() ? "" : ", ", printable(name), ratio.mid);
    if (!measured.exact) figures += sentence(say.from_to, ratio.low, ratio.high);
  }
  return sentence(say.tried, coloured_verdict(measured, voice), figures,
                  measured.exact ? std::string(say.exact) : sentence(say.pairs, measured.pairs));
}

std::string elsewhere_text(const rules::SuggestedFix& fix) {
  std::string text;
  for (const auto& [engine, command] : fix.command) {
    if (engine == fix.recorded_engine) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : " · ", printable(engine), printable(command));
  }
  return text;
}

std::string fix_text(const rules::SuggestedFix& fix, const Voice& voice, Told& told) {
  const Phrases& say = voice.say;
  std::string text =
      "    " + sentence(say.fix, printable(fix.knob), fix.from ? printable(*fix.from) : std::string(say.now_unknown),
                        printable(fix.to));
  if (!told.fixes.emplace(fix.knob, fix.to).second) return text + std::string(say.as_above) + '\n';
  if (fix.predicted_gain)
    text += sentence(say.predicted, fix.predicted_gain->low, fix.predicted_gain->high, fix.predicted_gain->metric,
                     fix.predicted_gain->mid);
  text += '\n';
  if (fix.predicted_cost)
    text += fmt::format("      {}\n", sentence(say.costs, fix.predicted_cost->metric, fix.predicted_cost->low,
                                               fix.predicted_cost->high, fix.predicted_cost->mid));
  if (!fix.gain_reason.empty())
    text += fmt::format("      {}\n", sentence(say.unpredicted, printable(fix.gain_reason)));
  if (fix.measured) text += fmt::format("      {}\n", measured_text(*fix.measured, voice));
  if (const std::string& note = fix.note.in(voice.language); !note.empty())
    text += fmt::format("      {}\n", printable(note));
  const auto own = fix.command.find(fix.recorded_engine);
  if (own != fix.command.end())
    text += fmt::format("      {}\n", sentence(say.attempt, voice.style.bold(printable(own->second))));
  if (const std::string elsewhere = elsewhere_text(fix); !elsewhere.empty()) {
    text += fmt::format("      {}\n", sentence(say.elsewhere, elsewhere));
    told.other_engines = true;
  }
  return text;
}

std::string evidence_text(const rules::Evidence& one, const Voice& voice, Told& told) {
  std::string text = fmt::format("    {} = {} (n={}{}{})", one.metric, quantity(one.value, one.unit),
                                 thousands(one.samples), one.window.empty() ? "" : ", ", printable(one.window));
  if (told.definitions.insert(one.definition).second)
    text += fmt::format("  {}", voice.style.dim(printable(one.definition)));
  return text + '\n';
}

std::string finding_text(const rules::Finding& finding, const Voice& voice, Told& told) {
  const Phrases& say = voice.say;
  std::string text =
      fmt::format("  {}\n    {}\n",
                  sentence(say.heading, voice.coloured(finding.severity), voice.style.bold(finding.rule),
                           printable(finding.title.in(voice.language)), printable(say.confidence(finding.confidence))),
                  sentence(say.because, printable(finding.because.in(voice.language))));
  for (const rules::Evidence& one : finding.evidence) text += evidence_text(one, voice, told);
  for (const std::string& check : finding.checks)
    text += fmt::format("    {}\n", sentence(say.check, printable(check)));
  for (const rules::SuggestedFix& fix : finding.fixes) text += fix_text(fix, voice, told);
  return text;
}

}  // namespace

std::string findings_text(const rules::Diagnosis& diagnosis, const Voice& voice) {
  std::string text;
  Told told;
  for (const rules::Finding& finding : diagnosis.findings) text += finding_text(finding, voice, told);
  if (told.other_engines) text += fmt::format("  {}\n", voice.style.dim(voice.say.other_engines));
  return text;
}

}  // namespace dmprof::report
