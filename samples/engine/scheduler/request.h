// What a caller asks the engine for.
#pragma once

#include <cstdint>
#include <string>

namespace dmengine {

struct Request {
  std::string id;                // as the caller names it; unique within a run
  std::string prompt;            // any bytes
  std::uint32_t max_tokens = 0;  // output tokens at most; 0 = the run's default
  std::int64_t arrival_ns = 0;   // after the start of the run
  std::string request_class;     // "chat", "code", …; empty = none
};

}  // namespace dmengine
