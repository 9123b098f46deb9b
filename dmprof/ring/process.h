// What /proc tells about another process. Thread-safe; unreadable facts come back empty or 0.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace dmprof::ring {

// Whether `pid` has a file of this name mapped, that is, still runs the program that made it. Empty when its maps
// cannot be read. By name: on overlay file systems maps shows other device numbers than stat.
std::optional<bool> has_mapped(std::int64_t pid, const std::string& file_name);

// Effective user of a process; empty when there is no such process.
std::optional<uid_t> owner_of(std::int64_t pid);

// Arguments joined by blanks, cut at 4 KiB, unprintable bytes replaced.
std::string command_of(std::int64_t pid);

// Text from a process that is not trusted: control bytes and broken UTF-8 become '?'.
std::string clean_text(const char* bytes, std::size_t length);

}  // namespace dmprof::ring
