// dmprof: see docs/cli.md for the commands, their JSON and the exit statuses.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "dmprof/base/exit_status.h"
#include "dmprof/cli/arguments.h"
#include "dmprof/report/format.h"

namespace {

// Messages quote arguments and files: what comes from there must not steer the terminal, break the line or flood it.
int report(const dmprof::Error& error) {
  constexpr std::size_t longest = 2000;
  std::string line = error.message;
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  if (line.size() > longest) line = line.substr(0, longest / 2) + " … " + line.substr(line.size() - longest / 2);
  std::fprintf(stderr, "dmprof: %s\n", dmprof::report::printable(line).c_str());
  return static_cast<int>(dmprof::status_of(error.kind));
}

}  // namespace

int main(int argc, char** argv) {
  // A file that reaches the limit of its size is then an error like a full disk, and a recorded command is not left
  // alone.
  std::signal(SIGXFSZ, SIG_IGN);
  // A parent may have had it ignored; then the kernel would reap the recorded command and its status would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    auto action = dmprof::cli::parse_arguments(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    if (!action) return report(action.error());
    auto status = (*action)();
    if (!status) return report(status.error());
    return static_cast<int>(*status);
  } catch (const std::bad_alloc&) {
    return report(
        {dmprof::ErrorKind::environment,
         "memory ran out; use a machine with more, raise the limit (ulimit -v), or ask about a shorter recording"});
  } catch (const std::exception& error) {
    return report({dmprof::ErrorKind::environment, std::string("gave up: ") + error.what()});
  }
}
