#include "dmprof/ring/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>

namespace dmprof::ring {
namespace {

// An engine may have another XDG_RUNTIME_DIR than this process: the usual one is looked into as well.
std::vector<std::string> candidates() {
  std::vector<std::string> paths = engine_directories();
  const std::string standard = "/run/user/" + std::to_string(::geteuid()) + "/dmprof";
  if (paths[0] != standard) paths.insert(paths.end() - 1, standard);
  return paths;
}

// A descriptor, or -1 and errno when the directory cannot be opened (EPERM: it is not private).
int open_private(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info {};
  if (fd >= 0 && ::fstat(fd, &info) == 0 && info.st_uid == ::geteuid() && (info.st_mode & 077) == 0) return fd;
  if (fd < 0) return -1;
  ::close(fd);
  errno = EPERM;
  return -1;
}

// Shows `look` every entry of every candidate that may be looked into, with the directory's path and descriptor.
void for_each_entry(const std::function<void(const std::string&, int, const dirent&)>& look) {
  for (const std::string& path : candidates()) {
    const int fd = open_private(path);
    if (fd < 0) continue;
    DIR* directory = ::fdopendir(fd);
    if (directory == nullptr) {
      ::close(fd);
      continue;
    }
    while (const dirent* entry = ::readdir(directory)) look(path, fd, *entry);
    ::closedir(directory);
  }
}

std::optional<std::int64_t> pid_of(const char* file) {
  const char* dot = std::strchr(file, '.');
  std::int64_t pid = 0;
  if (dot == nullptr || std::strcmp(dot, ".ctl") != 0) return std::nullopt;
  const auto parsed = std::from_chars(file, dot, pid);
  if (parsed.ec != std::errc() || parsed.ptr != dot || pid <= 0) return std::nullopt;
  return pid;
}

// ".PID.HEX.new" of a process that is gone: what an engine leaves that was killed between making and naming its page.
bool is_left_over(const char* file) {
  const std::size_t length = std::strlen(file);
  std::int64_t pid = 0;
  if (length < 5 || file[0] != '.' || std::strcmp(file + length - 4, ".new") != 0) return false;
  const auto parsed = std::from_chars(file + 1, file + length, pid);
  if (parsed.ec != std::errc() || *parsed.ptr != '.' || pid <= 0 || pid > INT32_MAX) return false;
  return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace

std::vector<std::string> engine_directories() {
  std::vector<std::string> paths;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') paths.push_back(std::string(runtime) + "/dmprof");
  paths.push_back("/tmp/dmprof-" + std::to_string(::geteuid()));
  return paths;
}

std::vector<PageName> list_pages() {
  std::vector<PageName> pages;
  for_each_entry([&pages](const std::string& path, int, const dirent& entry) {
    if (const auto pid = pid_of(entry.d_name)) pages.push_back({path, *pid, entry.d_ino});
  });
  return pages;
}

Result<ControlPage> open_page(const PageName& name) {
  const int directory = open_private(name.directory);
  if (directory < 0 && errno == EPERM)
    return fail(ErrorKind::environment, name.directory + " is not a private directory of this user");
  if (directory < 0) return fail(ErrorKind::environment, "cannot open " + name.directory + ": " + std::strerror(errno));
  const std::string file = std::to_string(name.pid) + ".ctl";
  auto page = ControlPage::open(directory, file, name.directory + "/" + file);
  ::close(directory);
  return page;
}

void remove_left_over() {
  for_each_entry([](const std::string&, int directory, const dirent& entry) {
    if (is_left_over(entry.d_name)) ::unlinkat(directory, entry.d_name, 0);
  });
}

void remove_stale(const ControlPage& page) {
  if (!page.alive() && page.in_place()) ::unlink(page.path().c_str());
}

}  // namespace dmprof::ring
