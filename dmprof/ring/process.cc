#include "dmprof/ring/process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

// Length of the UTF-8 sequence at `at`, 0 when it is broken.
std::size_t sequence_length(const unsigned char* at, std::size_t left) {
  std::size_t length = 0;
  if (*at >= 0xc2 && *at < 0xe0) length = 2;
  if (*at >= 0xe0 && *at < 0xf0) length = 3;
  if (*at >= 0xf0 && *at < 0xf5) length = 4;
  if (length == 0 || length > left) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
  const bool outside =
      (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f);  // surrogates, above U+10FFFF
  return overlong || outside ? 0 : length;
}

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
  std::string text;
  text.reserve(length);
  const auto* at = reinterpret_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < length;) {
    if (at[i] < 0x80) {
      text.push_back(at[i] < 0x20 || at[i] == 0x7f ? '?' : static_cast<char>(at[i]));
      ++i;
      continue;
    }
    const std::size_t sequence = sequence_length(at + i, length - i);
    if (sequence == 0) {
      text.push_back('?');
      ++i;
    } else {
      text.append(bytes + i, sequence);
      i += sequence;
    }
  }
  return text;
}

}  // namespace dmprof::ring
