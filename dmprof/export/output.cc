#include "dmprof/export/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dmprof::exporting {

namespace {

// Whether the file begins like an SQLite database, as every recording does.
bool is_database(const std::string& path) {
  constexpr std::string_view magic = "SQLite format 3";
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  char start[magic.size()] = {};
  const bool same =
      std::fread(start, 1, sizeof start, file) == sizeof start && std::string_view(start, sizeof start) == magic;
  std::fclose(file);
  return same;
}

}  // namespace

Result<std::unique_ptr<Output>> Output::open(const std::string& path) {
  std::unique_ptr<Output> output(new Output);
  output->path_ = path;
  if (path == "-") {
    output->file_ = stdout;
    return output;
  }
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (there && S_ISDIR(status.st_mode))
    return fail(ErrorKind::environment, fmt::format("cannot write {}: it is a directory; name a file in it", path));
  if (there && S_ISREG(status.st_mode) && is_database(path))
    return fail(ErrorKind::environment, fmt::format("cannot write {}: it is a recording or another SQLite database and "
                                                    "would be lost; choose another name with -o",
                                                    path));
  // Devices and pipes are written in place: renaming would replace them by a file.
  const bool in_place = there && !S_ISREG(status.st_mode);
  output->temporary_ = in_place ? "" : fmt::format("{}.{}.tmp", path, ::getpid());
  output->file_ = std::fopen(in_place ? path.c_str() : output->temporary_.c_str(), "wb");
  if (output->file_ == nullptr)
    return fail(ErrorKind::environment,
                fmt::format("cannot write {}: {}; choose another place with -o", path, std::strerror(errno)));
  return output;
}

Output::~Output() {
  if (file_ != nullptr && file_ != stdout) {
    std::fclose(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
}

void Output::write(std::string_view bytes) {
  if (error_ != 0) return;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) error_ = errno != 0 ? errno : EIO;
}

Status Output::close() {
  errno = 0;
  const bool flushed = file_ == stdout ? std::fflush(file_) == 0 : std::fclose(std::exchange(file_, nullptr)) == 0;
  if (!flushed && error_ == 0) error_ = errno != 0 ? errno : EIO;
  if (error_ == 0 && !temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ == 0) return {};
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  return fail(ErrorKind::environment, fmt::format("cannot write {}: {}; nothing was left behind",
                                                  path_ == "-" ? "standard output" : path_, std::strerror(error_)));
}

}  // namespace dmprof::exporting
