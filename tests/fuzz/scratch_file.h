// A file that holds the fuzzer's input, for parsers that open a path. One a process, rewritten each time, gone at its
// end. A real name in a folder in memory: SQLite follows links, and the link of a memfd leads to no file.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace dmprof::fuzz {

struct Scratch {
  std::string path = (std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                          : std::filesystem::temp_directory_path()) /
                     "dmprof-fuzz-XXXXXX";
  int descriptor = mkstemp(path.data());
  ~Scratch() { unlink(path.c_str()); }
};

inline std::string scratch_file(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  if (scratch.descriptor < 0 || ftruncate(scratch.descriptor, 0) != 0) std::abort();
  if (pwrite(scratch.descriptor, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return scratch.path;
}

}  // namespace dmprof::fuzz
