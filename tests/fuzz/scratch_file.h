// A file in memory that holds the fuzzer's input, for parsers that open a path. One a process, rewritten each time.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace dmprof::fuzz {

inline std::string scratch_file(const std::uint8_t* data, std::size_t size) {
  static const int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0 || ftruncate(descriptor, 0) != 0) std::abort();
  if (pwrite(descriptor, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace dmprof::fuzz
