#include "samples/simcard/cli/fit_table_command.h"

#include <CLI/CLI.hpp>

#include "dmprof/base/exit_status.h"
#include "samples/simcard/cli/words.h"
#include "samples/simcard/config/embedded.h"
#include "samples/simcard/scenario/table_fit.h"

namespace dmprof::simcard {
namespace {

Result<std::string> fitted(double steps) {
  const Result<Document> document = open_description("scenarios", "a11");
  if (!document) return tl::unexpected(document.error());
  const Result<Scenario> row = read_scenario(*document);
  if (!row) return tl::unexpected(row.error());
  const Result<TableFit> fit = fit_table(*row, steps);
  if (!fit) return tl::unexpected(fit.error());
  return table_fit_text(*fit);
}

}  // namespace

int fit_table_command(int argc, const char* const* argv) {
  const auto report = [](const Error& error) { return report_error("dm-simcard", error); };
  CLI::App app{"Fits the preset c8-node to the published batch table", "dm-simcard fit-table"};
  double steps = 20000;
  app.add_option("--steps", steps, "simulated steps of a batch in each evaluation; fewer are quicker and rougher")
      ->check(CLI::Range(10.0, 1e6))
      ->capture_default_str();
  refuse_empty_values(app);
  if (const std::string wrong = unknown_flag(app, std::vector<std::string>(argv + 1, argv + argc)); !wrong.empty())
    return report({ErrorKind::usage, wrong + "; see dm-simcard fit-table --help"});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return report({ErrorKind::usage, std::string(error.what()) + "; see dm-simcard fit-table --help"});
  }
  const Result<std::string> text = fitted(steps);
  if (!text) return report(text.error());
  const Status written = write_all(stdout, *text);
  return written ? 0 : report(written.error());
}

}  // namespace dmprof::simcard
