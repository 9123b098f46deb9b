// Names a process for good: its pid together with its start time, which no later process with the same pid shares.
// Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace dmprof {

// Start time of a live process in clock ticks since boot (field 22 of /proc/PID/stat, proc(5)); 0 when the process is
// gone, a zombie, or hidden.
std::uint64_t process_start(std::int64_t pid);

// The same from the text of a stat file; 0 when it is none, or that of a dead process.
std::uint64_t process_start_in(std::string_view stat);

// Whether the process that had this start time still runs.
inline bool is_alive(std::int64_t pid, std::uint64_t start) { return start != 0 && process_start(pid) == start; }

}  // namespace dmprof
