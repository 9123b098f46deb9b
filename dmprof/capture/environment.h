// What a recording says about the machine and the command it was taken with, as text by key. Unknown facts have no key.
//
// Keys: dmprof.version, recorded_at (UTC, ISO 8601), host.kernel, host.virtual ("yes"/"no"), cpu.model, cpu.flags (only
// those that matter to speed), cpu.online, cpu.allowed, cpu.llc_bytes (of one), cpu.llc_instances, cpu.governor,
// cpu.max_khz, memory.total_bytes, memory.transparent_hugepage, clock.source, clock.tsc ("invariant"/"not invariant"),
// load.1m, container.kind, container.cpu_limit (cores), container.memory_limit_bytes, container.cpuset, nvidia.driver,
// command, command.directory, env.DM_… (every such variable; for several recorded processes env.PID.DM_…).
#pragma once

#include <sys/types.h>
#include <map>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/event/sink.h"

namespace dmprof::capture {

using Environment = std::map<std::string, std::string>;

// Reads the machine. `root` is "/" except in tests, which give a folder with proc/ and sys/ of their own.
Environment machine_environment(const std::string& root = "/");

// The command and this process's own DM_* variables, which a child inherits.
Environment command_environment(const std::vector<std::string>& command);

// Commands and DM_* variables of running processes; what may not be read is left out.
Environment process_environment(const std::vector<pid_t>& pids, const std::string& root = "/");

// The last-level cache: bytes of one, and how many there are (one per cluster on many machines). 0 when the machine
// does not say.
struct LastLevelCache {
  std::uint64_t bytes = 0;
  std::uint32_t instances = 0;
};
LastLevelCache last_level_cache(const std::string& root = "/");

Status store_environment(EventSink& sink, const Environment& environment);

}  // namespace dmprof::capture
