#include "dmprof/base/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace dmprof {

namespace {

// The first bytes of a file; nothing when there is no such file.
std::optional<std::string> start_of(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    if (errno == ENOENT) return std::nullopt;
    return "?";  // there, and nobody may look at it: of no kind
  }
  std::string start(Output::longest_start, '\0');
  start.resize(std::fread(start.data(), 1, start.size(), file));
  std::fclose(file);
  return start;
}

}  // namespace

Result<std::unique_ptr<Output>> Output::open(const std::string& path, bool force) {
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
  // Devices and pipes are written in place: renaming would replace them by a file.
  const bool in_place = there && !S_ISREG(status.st_mode);
  output->may_replace_ = force;
  output->temporary_ = in_place ? "" : fmt::format("{}.{}.tmp", path, ::getpid());
  output->file_ = std::fopen(in_place ? path.c_str() : output->temporary_.c_str(), "wb");
  if (output->file_ == nullptr)
    return fail(ErrorKind::environment,
                fmt::format("cannot write {}: {}; choose another place with -o", path, std::strerror(errno)));
  return output;
}

Status Output::claim(std::string_view kind, const std::function<bool(std::string_view)>& made_by_us,
                     std::string_view otherwise) {
  if (may_replace_ || temporary_.empty()) return {};
  const std::optional<std::string> start = start_of(path_);
  may_replace_ = !start || start->empty() || made_by_us(*start);
  if (may_replace_) return {};
  return fail(
      ErrorKind::environment,
      fmt::format("{} is there and is not {}, so it is kept; choose another name, or {}", path_, kind, otherwise));
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
  if (error_ == 0 && !temporary_.empty() && !may_replace_ && ::access(path_.c_str(), F_OK) == 0) error_ = EEXIST;
  if (error_ == 0 && !temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ == 0) return {};
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  return fail(ErrorKind::environment, fmt::format("cannot write {}: {}; nothing was left behind",
                                                  path_ == "-" ? "standard output" : path_, std::strerror(error_)));
}

}  // namespace dmprof
