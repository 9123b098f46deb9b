#include "dmprof/base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

namespace dmprof {
namespace {

// Empty when this process lacks what it takes to look.
std::optional<std::uint64_t> look_up_start(std::int64_t pid) {
  if (pid <= 0) return 0;
  const int fd = ::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) return std::nullopt;
    return 0;
  }
  char text[4096];  // the kernel writes about 350 bytes, all in one read
  ssize_t length = 0;
  do {
    length = ::read(fd, text, sizeof text);
  } while (length < 0 && errno == EINTR);
  ::close(fd);
  return length <= 0 ? 0 : process_start_in({text, static_cast<std::size_t>(length)});
}

}  // namespace

std::uint64_t process_start(std::int64_t pid) { return look_up_start(pid).value_or(0); }

Life life_of(std::int64_t pid, std::uint64_t start) {
  if (start == 0) return Life::ended;
  if (const auto found = look_up_start(pid)) return *found == start ? Life::runs : Life::ended;
  // Asking for the pid alone takes no descriptor.
  const bool gone = ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
  return gone ? Life::ended : Life::unknown;
}

std::uint64_t process_start_in(std::string_view stat) {
  // The name may hold blanks and brackets: fields begin after the last bracket, with the state as field 3.
  std::size_t at = stat.rfind(')');
  if (at == std::string_view::npos || at + 2 >= stat.size()) return 0;
  at += 2;
  if (stat[at] == 'Z' || stat[at] == 'X') return 0;
  for (int field = 3; field < 22; ++field) {
    at = stat.find(' ', at);
    if (at == std::string_view::npos) return 0;
    ++at;
  }
  std::uint64_t start = 0;
  std::from_chars(stat.data() + at, stat.data() + stat.size(), start);
  return start;
}

}  // namespace dmprof
