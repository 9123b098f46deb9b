#include <string>
#include <vector>

#include "samples/simcard/cli/run_command.h"
#include "samples/simcard/fit/commands.h"

int main(int argc, char** argv) {
  if (argc > 1 && dmprof::twin::is_twin_command(argv[1])) {
    return dmprof::twin::run_twin_command(std::vector<std::string>(argv + 1, argv + argc));
  }
  return dmprof::simcard::run_command(argc, argv);
}
