// dm-simcard: the simulated card, the table of claims, and the twin of a real engine. See --help, scenarios --help and
// fit --help.
#include <string>
#include <string_view>
#include <vector>

#include "samples/simcard/cli/fit_table_command.h"
#include "samples/simcard/cli/run_command.h"
#include "samples/simcard/cli/scenarios_command.h"
#include "samples/simcard/fit/commands.h"
#include "samples/simcard/scenario/card_experiments.h"

int main(int argc, char** argv) {
  using namespace dmprof::simcard;
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (dmprof::twin::is_twin_command(command)) {
    return dmprof::twin::run_twin_command(std::vector<std::string>(argv + 1, argv + argc));
  }
  if (command == "fit-table") return fit_table_command(argc - 1, argv + 1);
  std::vector<Experiment> experiments;
  for (const auto part : {card_experiments(), node_experiments()})
    experiments.insert(experiments.end(), part.begin(), part.end());
  if (command == "scenarios") return scenarios_command(argc - 1, argv + 1, experiments);
  return run_command(argc, argv, experiments);
}
