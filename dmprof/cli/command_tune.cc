// dmprof tune: searches the knobs of the recorded command by running it, and prints what is worth choosing between.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "dmprof/base/suggest.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/cli/rerun.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/report/format.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/report/style.h"

namespace dmprof::cli {

namespace {

constexpr std::uint32_t most_runs = 10000;

struct Flags {
  std::string file;
  std::string objective = "throughput";
  std::uint32_t budget = 40;
  std::vector<std::string> knobs;
  bool yes = false;
};

// Knobs that change speed and nothing else. Others (temperature, seed, the memory budget, the backing store) change
// what is asked for, so they are searched only when named.
constexpr std::array<std::string_view, 8> free_knobs = {"lookahead",      "cache_policy",     "prefetch_distance",
                                                        "max_concurrent", "interleave_sched", "batch",
                                                        "prefill_chunk",  "threads"};

Result<experiment::Objective> objective_of(const std::string& word) {
  if (word == "throughput") return experiment::Objective{"throughput", true};
  if (word == "p99") return experiment::Objective{"itl.p99", false};
  const std::vector<std::string> known = {"throughput", "p99"};
  return fail(ErrorKind::usage,
              fmt::format("--objective: there is no {}{}; there are throughput and p99 (of the inter-token "
                          "latency)",
                          word, did_you_mean(word, known)));
}

const Knob* newest(const std::vector<Knob>& knobs, std::string_view name) {
  const Knob* found = nullptr;
  for (const Knob& knob : knobs) {
    if (knob.name == name && (found == nullptr || knob.since >= found->since)) found = &knob;
  }
  return found;
}

// "lookahead" or "lookahead=2|4|8".
Result<experiment::Dimension> typed_dimension(const std::string& text, const Rerun& rerun) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (auto possible = rerun.with({{name, "0"}}); !possible) return tl::unexpected(possible.error());
  const Knob& knob = *newest(rerun.command().knobs, name);
  experiment::Dimension found =
      equals == std::string::npos ? experiment::dimension(name, knob.range, knob.value)
                                  : experiment::dimension(name, text.substr(equals + 1) + "|" + knob.value, knob.value);
  std::sort(found.values.begin(), found.values.end());
  found.values.erase(std::unique(found.values.begin(), found.values.end()), found.values.end());
  if (found.values.size() < 2) {
    return fail(ErrorKind::usage,
                fmt::format("--knob {}: nothing to try beside {} (its range is {}); name values: --knob {}=A|B", text,
                            knob.value, knob.range.empty() ? "unknown" : knob.range, name));
  }
  found.recorded =
      static_cast<std::size_t>(std::find(found.values.begin(), found.values.end(), knob.value) - found.values.begin());
  return found;
}

Result<std::vector<experiment::Dimension>> dimensions(const Flags& flags, const Rerun& rerun) {
  std::vector<experiment::Dimension> all;
  for (const std::string& text : flags.knobs) {
    auto typed = typed_dimension(text, rerun);
    if (!typed) return tl::unexpected(typed.error());
    all.push_back(std::move(*typed));
  }
  for (const std::string_view name :
       flags.knobs.empty() ? std::span<const std::string_view>(free_knobs) : std::span<const std::string_view>()) {
    const Knob* knob = newest(rerun.command().knobs, name);
    if (knob == nullptr || !rerun.with({{knob->name, knob->value}})) continue;
    experiment::Dimension found = experiment::dimension(knob->name, knob->range, knob->value);
    if (found.values.size() > 1) all.push_back(std::move(found));
  }
  if (all.empty()) {
    return fail(ErrorKind::cannot_answer,
                fmt::format("{} registered no knob that tune turns by itself; name one: --knob NAME=A|B",
                            rerun.command().engine.empty() ? "the recorded engine" : rerun.command().engine));
  }
  return all;
}

std::string settings_text(const experiment::Settings& settings) {
  std::string text;
  for (const auto& [knob, value] : settings) text += fmt::format("{}{}={}", text.empty() ? "" : " ", knob, value);
  return text.empty() ? "as recorded" : text;
}

// Best first; what is on neither end of the trade-off last.
std::vector<const experiment::Trial*> in_order(const experiment::SearchResult& result) {
  std::vector<const experiment::Trial*> order;
  for (const experiment::Trial& trial : result.trials) order.push_back(&trial);
  const auto throughput = [](const experiment::Trial& trial) {
    const auto found = trial.ratios.find("throughput");
    return found == trial.ratios.end() ? 0 : found->second;
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    if (a->on_frontier != b->on_frontier) return a->on_frontier;
    return throughput(*a) > throughput(*b);
  });
  return order;
}

std::string ratio_text(const experiment::Trial& trial, const std::string& metric) {
  const auto found = trial.ratios.find(metric);
  return found == trial.ratios.end() ? "-" : fmt::format("{:.2f} x", found->second);
}

std::string text_of(const experiment::SearchResult& result, const std::string& line, const report::Style& style) {
  std::size_t widest = 7;
  for (const experiment::Trial& trial : result.trials) widest = std::max(widest, settings_text(trial.settings).size());
  std::string text = style.bold(fmt::format("{:<{}}  {:>10}  {:>10}  {:>5}  {}\n", "setting", widest, "throughput",
                                            "ITL P99", "pairs", "frontier"));
  for (const experiment::Trial* trial : in_order(result)) {
    text += fmt::format("{:<{}}  {:>10}  {:>10}  {:>5}  {}\n", report::printable(settings_text(trial->settings)),
                        widest, ratio_text(*trial, "throughput"), ratio_text(*trial, "itl.p99"),
                        trial->settings.empty() ? "" : std::to_string(trial->pairs),
                        trial->on_frontier ? style.good("*") : "");
  }
  text += fmt::format("\nratios against the command as recorded, from {} runs; * nothing tried is better in both\n",
                      result.runs);
  for (const std::string& failure : result.failures) text += fmt::format("left out: {}\n", report::printable(failure));
  if (result.best == 0) return text + "best: as recorded; nothing tried gains 2 % or more\n";
  return text + fmt::format("best: {}\n  {}\n", report::printable(settings_text(result.trials[result.best].settings)),
                            style.bold(report::printable(line)));
}

std::string json_of(const std::string& run, const experiment::SearchResult& result, const std::string& objective,
                    const std::string& line) {
  nlohmann::ordered_json object = {{"run", run}, {"objective", objective}, {"runs", result.runs}};
  object["trials"] = nlohmann::ordered_json::array();
  for (const experiment::Trial& trial : result.trials) {
    object["trials"].push_back({{"settings", trial.settings},
                                {"ratios", trial.ratios},
                                {"pairs", trial.pairs},
                                {"frontier", trial.on_frontier}});
  }
  object["best"] = {{"settings", result.trials[result.best].settings}, {"command", line}};
  object["failures"] = result.failures;
  return report::dump(object) + "\n";
}

Result<ExitStatus> tune(const Flags& flags, bool json) {
  auto objective = objective_of(flags.objective);
  if (!objective) return tl::unexpected(objective.error());
  auto recording = recording_or_newest(flags.file);
  if (!recording) return tl::unexpected(recording.error());
  auto rerun = Rerun::of(*recording);
  if (!rerun) return tl::unexpected(rerun.error());
  auto searched = dimensions(flags, *rerun);
  if (!searched) return tl::unexpected(searched.error());
  DMPROF_TRY(
      ask_to_run(fmt::format("tune runs the recorded command ({}) up to {} times", rerun->command().line, flags.budget),
                 flags.yes));

  ProgressLine line(stderr);
  experiment::SearchOptions options;
  options.objective = *objective;
  options.runs = flags.budget;
  // The knobs were asked about before: what they hold is valid.
  options.variant = [&](const experiment::Settings& settings) {
    return rerun->with(settings).value_or(rerun->as_recorded());
  };
  options.progress = [&](std::size_t run, std::size_t most, const experiment::Settings& settings) {
    line.show(fmt::format("run {} of at most {}: {}", run, most, report::printable(settings_text(settings))));
  };
  auto result = experiment::search(
      *searched, [&](const experiment::Variant& variant) { return rerun->run(variant); }, options);
  line.clear();
  if (!result) return tl::unexpected(result.error());
  const std::string best = options.variant(result->trials[result->best].settings).line;
  DMPROF_TRY(write_out(json ? json_of(recording->string(), *result, flags.objective, best)
                            : text_of(*result, best, report::Style(wants_colour(stdout)))));
  return ExitStatus::done;
}

}  // namespace

DeclaredCommand declare_tune(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("tune", "Search the knobs of a recorded command by running it again");
  auto flags = std::make_shared<Flags>();
  app.text("FILE", flags->file, "", "Recording; the newest one when left out");
  app.flag("--json", shared->json, "Print JSON");
  app.text("--objective", flags->objective, "WHAT", "throughput (default) or p99, of the inter-token latency");
  app.count("--budget", flags->budget, most_runs, "N", "Runs at most (default 40)");
  app.texts("--knob", flags->knobs, "NAME[=A|B…]",
            "Knob to search, with the values to try; else the engine's speed knobs");
  app.flag("--yes", flags->yes, "Run without asking");
  return {app, [flags, shared] { return tune(*flags, shared->json); }};
}

}  // namespace dmprof::cli
