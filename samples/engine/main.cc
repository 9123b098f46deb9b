// dm-engine: the reference engine. See --help, and synth --help and bench --help.
#include <cstdlib>
#include <string>
#include <vector>

#include "samples/engine/bench/bench.h"
#include "samples/engine/cli/program.h"
#include "samples/engine/synth/synth.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::span<const std::string> rest = args.empty() ? std::span<const std::string>() : std::span(args).subspan(1);
  if (!args.empty() && args[0] == "synth") return dmengine::synth_main(rest);
  if (!args.empty() && args[0] == "bench") return dmengine::bench_main(rest);
  return dmengine::run_program(args, [](const char* name) -> const char* { return std::getenv(name); });
}
