#include <string>
#include <string_view>
#include <vector>

#include "samples/simcard/cli/run_command.h"
#include "samples/simcard/cli/scenarios_command.h"
#include "samples/simcard/fit/commands.h"

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (dmprof::twin::is_twin_command(command)) {
    return dmprof::twin::run_twin_command(std::vector<std::string>(argv + 1, argv + argc));
  }
  if (command == "scenarios") {
    return dmprof::simcard::scenarios_command(argc - 1, argv + 1, dmprof::simcard::node_experiments());
  }
  return dmprof::simcard::run_command(argc, argv);
}
