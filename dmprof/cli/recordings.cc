#include "dmprof/cli/recordings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

namespace dmprof::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view sqlite_magic{"SQLite format 3\0", 16};

// Program name without folders, reduced to characters that need no quoting in a shell.
std::string file_stem_of(const std::string& command) {
  std::string stem;
  for (const char c : fs::path(command).filename().string()) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (stem.size() < 40) stem += plain ? c : '_';
  }
  return stem.empty() ? "recording" : stem;
}

Status make_private_directory(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {};
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(ErrorKind::environment, fmt::format("cannot create {}: {}; set XDG_DATA_HOME or name a file with -o",
                                                    path.string(), std::strerror(errno)));
  }
  return {};
}

}  // namespace

Result<fs::path> data_directory() {
  const char* xdg = std::getenv("XDG_DATA_HOME");
  if (xdg != nullptr && xdg[0] == '/') return fs::path(xdg) / "dmprof";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return fs::path(home) / ".local/share/dmprof";
  return fail(ErrorKind::environment,
              "no place for recordings: set HOME or XDG_DATA_HOME to an absolute path, or name a file with -o");
}

Status make_data_directory() {
  auto directory = data_directory();
  if (!directory) return tl::unexpected(directory.error());
  return make_private_directory(*directory);
}

Result<fs::path> newest_recording(const fs::path& directory) {
  fs::path newest;
  fs::file_time_type newest_time;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() != ".dmprof" || !it->is_regular_file(ignored)) continue;
    const fs::file_time_type time = it->last_write_time(ignored);
    if (ignored) continue;  // deleted meanwhile
    // Equal times (coarse file systems): the name starts with the UTC time, so the greater name is the newer one.
    if (newest.empty() || time > newest_time || (time == newest_time && it->path().filename() > newest.filename())) {
      newest = it->path();
      newest_time = time;
    }
  }
  if (newest.empty()) {
    return fail(ErrorKind::cannot_answer,
                fmt::format("no recording in {}; make one with dmprof run -- CMD, or name a file", directory.string()));
  }
  return newest;
}

Result<fs::path> recording_or_newest(const std::string& named) {
  if (!named.empty()) return fs::path(named);
  auto directory = data_directory();
  if (!directory) return tl::unexpected(directory.error());
  return newest_recording(*directory);
}

Result<fs::path> new_recording_path(const std::string& command) {
  auto directory = data_directory();
  if (!directory) return tl::unexpected(directory.error());
  DMPROF_TRY(make_data_directory());
  const std::string stem = fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::gmtime(std::time(nullptr)), file_stem_of(command));
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const fs::path path = *directory / (attempt == 0 ? stem + ".dmprof" : fmt::format("{}-{}.dmprof", stem, attempt));
    std::error_code error;
    if (!fs::exists(path, error)) return path;
  }
  return fail(ErrorKind::environment,
              fmt::format("too many recordings named {} in {}; name a file with -o", stem, directory->string()));
}

Error no_recording(const fs::path& path) {
  return {ErrorKind::environment, fmt::format("{} is there and is no recording, so it is kept; choose another name "
                                              "with -o, or replace it with --force",
                                              path.string())};
}

Status check_output(const fs::path& output, bool force) {
  std::error_code error;
  const std::string name = output.string();
  if (fs::is_directory(output, error)) {
    return fail(ErrorKind::environment, fmt::format("cannot write {}: it is a directory; name a file in it", name));
  }
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    return fail(ErrorKind::environment,
                fmt::format("cannot write {}: there is no directory {}; create it first", name, folder.string()));
  }
  if (!fs::exists(output, error)) {
    if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
    return fail(ErrorKind::environment,
                fmt::format("cannot write {}: {}; choose another place with -o", name, std::strerror(errno)));
  }
  if (!fs::is_regular_file(output, error)) {
    return fail(ErrorKind::environment,
                fmt::format("cannot write {}: it is not a regular file; choose another name with -o", name));
  }
  if (::access(output.c_str(), W_OK) != 0) {
    return fail(ErrorKind::environment,
                fmt::format("cannot write {}: {}; choose another name with -o", name, std::strerror(errno)));
  }
  std::array<char, 16> head{};
  std::ifstream file(output, std::ios::binary);
  file.read(head.data(), head.size());
  const bool empty = file.gcount() == 0;
  if (!force && !empty && std::string_view(head.data(), static_cast<std::size_t>(file.gcount())) != sqlite_magic)
    return tl::unexpected(no_recording(output));
  return {};
}

}  // namespace dmprof::cli
