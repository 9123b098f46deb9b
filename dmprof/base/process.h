// Names a process for good: its pid together with its start time, which no later process with the same pid shares.
// Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace dmprof {

// Start time of a live process in clock ticks since boot (field 22 of /proc/PID/stat, proc(5)); 0 when the process is
// gone, a zombie, or hidden, and when there is no descriptor left to look with.
std::uint64_t process_start(std::int64_t pid);

// The same from the text of a stat file; 0 when it is none, or that of a dead process.
std::uint64_t process_start_in(std::string_view stat);

enum class Life {
  runs,
  ended,
  unknown,  // its pid is in use, and no descriptor or memory was left to see by whom: ask again later
};

// What became of the process that had this start time.
Life life_of(std::int64_t pid, std::uint64_t start);

// Whether that process may still run: who cannot look does not take it for dead.
inline bool is_alive(std::int64_t pid, std::uint64_t start) { return life_of(pid, start) != Life::ended; }

}  // namespace dmprof
