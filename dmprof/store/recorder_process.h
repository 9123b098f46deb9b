// Tells whether the process that writes a recording is still alive: its PID and its start time, which no later process
// with the same PID shares.
#pragma once

#include <cstdint>

namespace dmprof::store {

// Start time of a process in clock ticks since boot; 0 when there is no such process.
std::int64_t process_start(std::int64_t pid);

inline bool is_alive(std::int64_t pid, std::int64_t start) { return start != 0 && process_start(pid) == start; }

}  // namespace dmprof::store
