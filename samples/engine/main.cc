// dm-engine: the reference engine. See --help, and synth --help and bench --help.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "samples/engine/bench/bench.h"
#include "samples/engine/cli/program.h"
#include "samples/engine/synth/synth.h"

namespace {

int run(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::span<const std::string> rest = args.empty() ? std::span<const std::string>() : std::span(args).subspan(1);
  if (!args.empty() && args[0] == "synth") return dmengine::synth_main(rest);
  if (!args.empty() && args[0] == "bench") return dmengine::bench_main(rest);
  return dmengine::run_program(args, [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace

// Errors are values in every folder of the engine; what gets here is a shortage, of memory most likely.
int main(int argc, char** argv) {
  constexpr int environment_status = 6;
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("dm-engine: out of memory: allow more (ulimit -v), or run a smaller model or fewer --threads\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dm-engine: %s: something of the system ran out; look at `ulimit -a`\n", error.what());
  }
  return environment_status;
}
