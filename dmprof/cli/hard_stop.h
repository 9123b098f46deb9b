// Ends this process when it has computed for too long inside a library that cannot be interrupted.
#pragma once

#include <string>

namespace dmprof::cli {

// From now on: after `seconds` of computing (waiting does not count) `message` goes to standard error and the process
// exits with `status`, whatever it is doing and without running destructors. For a process that only reads. One at a
// time; the destructor calls it off.
class HardStop {
 public:
  HardStop(double seconds, std::string message, int status);
  ~HardStop();
  HardStop(const HardStop&) = delete;
  HardStop& operator=(const HardStop&) = delete;
};

}  // namespace dmprof::cli
