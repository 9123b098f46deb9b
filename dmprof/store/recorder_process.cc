#include "dmprof/store/recorder_process.h"

#include <charconv>
#include <fstream>
#include <string>

namespace dmprof::store {

std::int64_t process_start(std::int64_t pid) {
  if (pid <= 0) return 0;
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // The command name may hold spaces and parentheses; the fields after its last parenthesis start with the third.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::size_t position = name_end + 1;
  for (int field = 3; field <= 22; ++field) {
    position = line.find(' ', position);
    if (position == std::string::npos) return 0;
    ++position;
  }
  std::int64_t start = 0;
  std::from_chars(line.data() + position, line.data() + line.size(), start);
  return start;
}

}  // namespace dmprof::store
