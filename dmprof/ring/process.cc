#include "dmprof/ring/process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dmprof/base/utf8.h"

namespace dmprof::ring {
namespace {

std::string read_file(const std::string& path, std::size_t limit) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  ssize_t got = 0;
  while (text.size() < limit && (got = ::read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(fd);
  return text;
}

std::string proc_path(std::int64_t pid, const char* file) { return "/proc/" + std::to_string(pid) + "/" + file; }

}  // namespace

std::optional<bool> has_mapped(std::int64_t pid, const std::string& file_name) {
  const std::string maps = read_file(proc_path(pid, "maps"), 64u << 20);
  if (maps.empty()) return std::nullopt;
  return maps.find("/" + file_name) != std::string::npos;
}

std::optional<uid_t> owner_of(std::int64_t pid) {
  struct stat info {};
  if (::stat(("/proc/" + std::to_string(pid)).c_str(), &info) != 0) return std::nullopt;
  return info.st_uid;
}

std::string command_of(std::int64_t pid) {
  std::string text = read_file(proc_path(pid, "cmdline"), 4096);
  if (text.size() > 4096) text.resize(4096);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return clean_text(text.data(), text.size());
}

std::string clean_text(const char* bytes, std::size_t length) {
  return clean_utf8({bytes, length}, {.control = false});
}

}  // namespace dmprof::ring
