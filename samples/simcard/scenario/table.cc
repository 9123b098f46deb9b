#include "samples/simcard/scenario/table.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "dmprof/base/suggest.h"
#include "samples/simcard/config/embedded.h"

namespace dmprof::simcard {
namespace {

// "A4" before "A10": the letter, then the number.
bool id_before(const Scenario& a, const Scenario& b) {
  if (a.id.substr(0, 1) != b.id.substr(0, 1)) return a.id < b.id;
  return a.id.size() != b.id.size() ? a.id.size() < b.id.size() : a.id < b.id;
}

}  // namespace

Result<std::vector<Scenario>> table_scenarios() {
  std::vector<Scenario> all;
  for (const EmbeddedDescription& entry : embedded_descriptions()) {
    if (entry.kind != "scenarios") continue;
    Result<Document> document = Document::parse(entry.text, std::string(entry.path));
    if (!document) return tl::unexpected(document.error());
    if (!document->root().has("experiment")) continue;  // a scenario of the card that is no row of the table
    Result<Scenario> scenario = read_scenario(*document);
    if (!scenario) return tl::unexpected(scenario.error());
    all.push_back(std::move(*scenario));
  }
  std::sort(all.begin(), all.end(), id_before);
  return all;
}

Result<Outcome> run_scenario(const Scenario& scenario, std::span<const Experiment> experiments, Witness* witness) {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments) {
    if (experiment.name == scenario.experiment) {
      Result<Figures> figures = experiment.run(scenario.settings, {static_cast<std::uint64_t>(scenario.seed), witness});
      if (!figures) return tl::unexpected(figures.error());
      return judge(scenario, std::move(*figures));
    }
    names.emplace_back(experiment.name);
  }
  return fail(ErrorKind::bad_input,
              fmt::format("{}: there is none called {}{}; there are {}", scenario.experiment_at, scenario.experiment,
                          did_you_mean(scenario.experiment, names), fmt::join(names, ", ")));
}

Result<std::vector<Outcome>> run_table(const std::vector<Scenario>& scenarios, std::span<const Experiment> experiments,
                                       unsigned threads) {
  std::vector<std::optional<Result<Outcome>>> results(scenarios.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < scenarios.size(); i = next++) results[i] = run_scenario(scenarios[i], experiments);
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  std::vector<Outcome> outcomes;
  for (auto& result : results) {
    if (!*result) return tl::unexpected(result->error());
    outcomes.push_back(std::move(**result));
  }
  return outcomes;
}

}  // namespace dmprof::simcard
