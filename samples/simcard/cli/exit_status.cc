#include "samples/simcard/cli/exit_status.h"

#include <fmt/format.h>

#include <cstdio>

namespace dmprof::simcard {

int report(const Error& error) {
  fmt::print(stderr, "dm-simcard: {}\n", error.message);
  switch (error.kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::cannot_answer:
      return 3;
    case ErrorKind::bad_input:
      return 4;
    case ErrorKind::environment:
      break;
  }
  return 6;
}

}  // namespace dmprof::simcard
