#include "samples/simcard/cli/scenarios_command.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "dmprof/base/exit_status.h"
#include "dmprof/base/suggest.h"
#include "samples/simcard/cli/words.h"
#include "samples/simcard/knobs/knobs.h"
#include "samples/simcard/scenario/table.h"

namespace dmprof::simcard {

int scenarios_command(int argc, const char* const* argv, std::span<const Experiment> experiments) {
  const auto report = [](const Error& error) { return report_error("dm-simcard", error); };
  CLI::App app{"Checks the published claims against the simulation, one scenario each", "dm-simcard scenarios"};
  bool json = false, markdown = false;
  std::string only;
  unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  auto* as_json = app.add_flag("--json", json, "one JSON object, for scripts");
  app.add_flag("--markdown", markdown, "the table of docs/scenarios.md")->excludes(as_json);
  app.add_option("--only", only, "one row, by its id (A11)");
  app.add_option("--threads", threads, "scenarios run at a time; the result is the same")->check(CLI::Range(1u, 256u));
  refuse_empty_values(app);
  if (const std::string wrong = unknown_flag(app, std::vector<std::string>(argv + 1, argv + argc)); !wrong.empty())
    return report({ErrorKind::usage, wrong + "; see dm-simcard scenarios --help"});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return report({ErrorKind::usage, std::string(error.what()) + "; see dm-simcard scenarios --help"});
  }
  if (const std::string unused = unused_variables([](const char* name) -> const char* { return std::getenv(name); },
                                                  "the rows have their own");
      !unused.empty())
    fmt::print(stderr, "dm-simcard: warning: {}\n", unused);
  Result<std::vector<Scenario>> scenarios = table_scenarios();
  if (!scenarios) return report(scenarios.error());
  if (!only.empty()) {
    for (char& c : only) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::vector<std::string> ids;
    for (const Scenario& scenario : *scenarios) ids.push_back(scenario.id);
    std::erase_if(*scenarios, [&](const Scenario& scenario) { return scenario.id != only; });
    if (scenarios->empty())
      return report({ErrorKind::usage, fmt::format("--only {}: there is no such row{}; they are {}", only.substr(0, 40),
                                                   did_you_mean(only, ids), fmt::join(ids, ", "))});
  }
  const Result<std::vector<Outcome>> outcomes = run_table(*scenarios, experiments, threads);
  if (!outcomes) return report(outcomes.error());
  const std::string text = json ? table_json(*outcomes) : markdown ? table_markdown(*outcomes) : table_text(*outcomes);
  const Status written = write_all(stdout, text);
  return written ? 0 : report(written.error());
}

}  // namespace dmprof::simcard
