#include <cstdio>
#include <string_view>

#include "samples/simcard/cli/scenarios_command.h"

int main(int argc, char** argv) {
  using namespace dmprof::simcard;
  if (argc > 1 && std::string_view(argv[1]) == "scenarios")
    return scenarios_command(argc - 1, argv + 1, node_experiments());
  std::fputs("usage: dm-simcard scenarios [--json | --markdown]\n", stderr);
  return 2;
}
