// The command that `dmprof run` starts.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dmprof/base/error.h"

namespace dmprof::capture {

struct ChildEnd {
  int exit_status = 0;       // when it ended by itself
  int signal = 0;            // that ended it, 0 = none
  std::string text() const;  // "exit status 3", "killed by SIGSEGV"
};

// Whether `name` can be started: a file that may be executed, looked up in PATH when it has no slash. Error
// (environment).
Status check_program(const std::string& name);

// Thread-safety: none. The destructor leaves a running child alone.
class Child {
 public:
  // Starts `command` (looked up in PATH) with this process's standard streams, its environment plus `variables`, and
  // default signal handling. Error (environment): no such program, not executable.
  static Result<Child> start(const std::vector<std::string>& command,
                             const std::vector<std::pair<std::string, std::string>>& variables);

  pid_t pid() const { return pid_; }
  // How it ended; nothing while it runs. Does not wait.
  std::optional<ChildEnd> ended();
  void send(int signal);

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<ChildEnd> end_;
};

}  // namespace dmprof::capture
