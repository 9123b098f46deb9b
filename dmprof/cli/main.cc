// dmprof: see docs/cli.md for the commands, their JSON and the exit statuses.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "dmprof/cli/arguments.h"
#include "dmprof/cli/exit_status.h"

namespace {

int report(const dmprof::Error& error) {
  std::string line = error.message;
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fprintf(stderr, "dmprof: %s\n", line.c_str());
  return static_cast<int>(dmprof::cli::status_of(error.kind));
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away (| head) must not kill a recording in progress; write_out() reports it instead.
  std::signal(SIGPIPE, SIG_IGN);
  // A parent may have had it ignored; then the kernel would reap the recorded command and its status would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    auto action = dmprof::cli::parse_arguments(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    if (!action) return report(action.error());
    auto status = (*action)();
    if (!status) return report(status.error());
    return static_cast<int>(*status);
  } catch (const std::exception& error) {
    return report({dmprof::ErrorKind::environment, std::string("gave up: ") + error.what()});
  }
}
