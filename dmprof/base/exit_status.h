// The exit statuses of the programs, in one place. Scripts depend on them; docs/cli.md repeats the table. And how the
// samples end: one line on stderr, one status.
#pragma once

#include <cstdio>
#include <string_view>

#include "dmprof/base/error.h"

namespace dmprof {

enum class ExitStatus : int {
  done = 0,           // also for `run` when the recorded command itself failed: its status is printed
  regression = 1,     // the gate found one, or `diagnose --fail-on` met its severity
  usage = 2,          // unknown command, flag, metric or rule; arguments that do not fit together
  cannot_answer = 3,  // a metric that was named is unavailable in this recording
  bad_input = 4,      // a file is damaged, foreign, newer or hostile
  inconclusive = 5,   // the gate needs more runs
  environment = 6,    // no permission, no space, no such process, a facility this machine or build lacks
};

constexpr ExitStatus status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return ExitStatus::usage;
    case ErrorKind::cannot_answer:
      return ExitStatus::cannot_answer;
    case ErrorKind::bad_input:
      return ExitStatus::bad_input;
    case ErrorKind::environment:
      return ExitStatus::environment;
  }
  return ExitStatus::bad_input;
}

// Prints "program: message" to stderr and gives the status to return from main.
int report_error(std::string_view program, const Error& error);

// All of `text`, flushed; environment when it could not be written in full.
Status write_all(std::FILE* out, std::string_view text);

}  // namespace dmprof
