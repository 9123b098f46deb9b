// Whether what a recording claims to hold fits into this machine's memory, asked before any of it is read.
#pragma once

#include <cstdint>
#include <string>

#include "dmprof/base/error.h"

namespace dmprof::store {

// Bytes of events that may be held at once: a third of what this process may use (physical memory, or its address
// limit where that is lower). Sorting and analysis need the rest. Thread-safe.
std::uint64_t memory_budget();

// Bytes of the file and of its write-ahead log, 0 when there is none.
std::uint64_t stored_bytes(const std::string& path);

// An error when `needed` exceeds `budget`: `bad_input` where the file is so much smaller that nobody recorded that
// many events, else `environment`.
Status check_room(const std::string& path, std::uint64_t needed, std::uint64_t stored, std::uint64_t budget);

}  // namespace dmprof::store
