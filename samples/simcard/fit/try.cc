#include <string>
#include <vector>

#include "samples/simcard/fit/commands.h"

int main(int count, char** words) {
  const std::vector<std::string> args(words + 1, words + count);
  return args.empty() ? 2 : dmprof::twin::run_twin_command(args);
}
