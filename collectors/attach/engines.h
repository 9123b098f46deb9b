// Finding engines: which processes of this user have the SDK and can be recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/ring/page.h"

namespace dmprof::attach {

struct EngineInfo {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string name;  // as the engine calls itself
  std::string version;
  std::string command;
};

// Engines of this user that run now, by pid. Removes pages that dead processes left behind. Foreign and damaged pages
// are passed over.
Result<std::vector<EngineInfo>> list_engines();

// The page of one process. environment: no such process, somebody else's process, or one without the SDK (with a hint).
Result<ring::ControlPage> find_engine(std::int64_t pid);

}  // namespace dmprof::attach
