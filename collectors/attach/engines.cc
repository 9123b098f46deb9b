#include "collectors/attach/engines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "dmprof/ring/directory.h"
#include "dmprof/ring/process.h"

namespace dmprof::attach {
namespace {

// Enough to know a command by in a message; cut between characters.
std::string shortened(std::string command) {
  constexpr std::size_t most_bytes = 80;
  if (command.size() <= most_bytes) return command;
  std::size_t end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(command[end]) & 0xc0) == 0x80) --end;
  command.resize(end);
  return command + "...";
}

// Without a descriptor no directory is read, and none of its pages is seen.
bool can_look() {
  const int fd = ::open("/proc/self", O_PATH | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0 || (errno != EMFILE && errno != ENFILE);
}

}  // namespace

Result<std::vector<EngineInfo>> list_engines() {
  ring::remove_left_over();
  std::vector<EngineInfo> engines;
  for (const ring::PageName& name : ring::list_pages()) {
    const auto page = ring::open_page(name);
    if (!page) continue;
    if (!page->alive()) {
      ring::remove_stale(*page);
      continue;
    }
    const ring::PageIdentity& identity = page->identity();
    const bool known =
        std::any_of(engines.begin(), engines.end(), [&](const EngineInfo& e) { return e.pid == identity.pid; });
    if (known) continue;
    engines.push_back(
        {identity.pid, identity.parent_pid, identity.engine, identity.engine_version, ring::command_of(identity.pid)});
  }
  std::sort(engines.begin(), engines.end(), [](const EngineInfo& a, const EngineInfo& b) { return a.pid < b.pid; });
  return engines;
}

Result<ring::ControlPage> find_engine(std::int64_t pid) {
  const std::string process = "process " + std::to_string(pid);
  const std::optional<uid_t> owner = pid > 0 ? ring::owner_of(pid) : std::nullopt;
  if (!owner)
    return fail(ErrorKind::environment, process + " does not exist: `dmprof doctor` lists the engines that run");
  std::optional<Error> refused;
  for (const ring::PageName& name : ring::list_pages()) {
    if (name.pid != pid) continue;
    auto page = ring::open_page(name);
    if (page && page->alive()) return page;
    if (page) ring::remove_stale(*page);
    if (!page) refused = page.error();
  }
  if (refused) return tl::unexpected(*refused);
  if (!can_look())
    return fail(ErrorKind::environment, "no file descriptor is left to look for " + process + ": raise `ulimit -n`");
  if (*owner != ::geteuid()) {
    return fail(ErrorKind::environment,
                process + " belongs to another user (uid " + std::to_string(*owner) + "): run dmprof as that user");
  }
  return fail(ErrorKind::environment, process + " (" + shortened(ring::command_of(pid)) +
                                          ") has no dmprof SDK, or has not called dmprof_init yet: link libdmprof and "
                                          "call it, see dmprof/sdk/dmprof.h");
}

}  // namespace dmprof::attach
