// dm-simcard: the simulated card and the table of claims. See --help, and scenarios --help.
#include <string_view>
#include <vector>

#include "samples/simcard/cli/run_command.h"
#include "samples/simcard/cli/scenarios_command.h"
#include "samples/simcard/scenario/card_experiments.h"

int main(int argc, char** argv) {
  using namespace dmprof::simcard;
  std::vector<Experiment> experiments;
  for (const auto part : {card_experiments(), node_experiments()})
    experiments.insert(experiments.end(), part.begin(), part.end());
  if (argc > 1 && std::string_view(argv[1]) == "scenarios") return scenarios_command(argc - 1, argv + 1, experiments);
  return run_command(argc, argv, experiments);
}
