#include "dmprof/cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dmprof/cli/recordings.h"
#include "dmprof/store/reader.h"

namespace dmprof::cli {

namespace {

namespace fs = std::filesystem;

// Beside an unfinished recording lies a log without which it is not whole.
constexpr std::array logs = {"-wal", "-shm", "-journal"};
constexpr int most_attempts = 1000;

fs::path beside(const fs::path& file, const char* suffix) { return file.string() + suffix; }

void move_logs(const fs::path& from, const fs::path& to) {
  std::error_code none_there;
  for (const char* suffix : logs) fs::rename(beside(from, suffix), beside(to, suffix), none_there);
}

void remove_recording(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : logs) fs::remove(beside(file, suffix), ignored);
  fs::remove(file, ignored);
}

bool exchange(const fs::path& a, const fs::path& b, unsigned how) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), how) == 0;
}

Error refused(const fs::path& path, int error) {
  return {ErrorKind::environment,
          fmt::format("cannot write {}: {}; name another file with -o", path.string(), std::strerror(error))};
}

Error in_use(const fs::path& path) {
  return {ErrorKind::usage, fmt::format("{} is still being recorded; name another file with -o", path.string())};
}

}  // namespace

// A recorder of this machine holds a lock on its file, one elsewhere (a shared folder) is known by the run's own row.
bool is_being_recorded(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const bool locked = file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (file >= 0) ::close(file);
  if (locked) return true;
  const auto older = Reader::open(path.string());
  if (!older) return false;
  const auto run = older->run();
  return run && run->end == RunEnd::recording;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      spare_(std::exchange(other.spare_, fs::path())),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// The name appears in one step with the lock already held: an empty locked file of a spare name is renamed to it.
Result<OutputFile> OutputFile::reserve(const fs::path& path) {
  OutputFile file;
  std::string spare = path.string() + ".XXXXXX";
  file.descriptor_ = ::mkostemp(spare.data(), O_CLOEXEC);
  if (file.descriptor_ < 0) return tl::unexpected(refused(path, errno));
  file.spare_ = spare;
  if (::flock(file.descriptor_, LOCK_EX | LOCK_NB) != 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
    const int error = errno;
    remove_recording(file.spare_);
    return tl::unexpected(refused(path, error));
  }
  return file;
}

// Gives the reserved file its name. An older recording gets the spare name in exchange.
Status OutputFile::take(const fs::path& path, bool force) {
  path_ = path;
  std::error_code ignored;
  // Somebody else's log beside a name that is free: SQLite would fold it into the new recording.
  if (!fs::exists(path, ignored) && fs::exists(beside(path, "-wal"), ignored)) {
    return fail(ErrorKind::environment,
                fmt::format("{}-wal is there without its recording; move it away, or name another file with -o",
                            path.string()));
  }
  if (exchange(spare_, path, RENAME_NOREPLACE)) {
    spare_.clear();
    return {};
  }
  if (errno != EEXIST) return tl::unexpected(refused(path, errno));
  DMPROF_TRY(check_output(path, force));
  if (is_being_recorded(path)) return tl::unexpected(in_use(path));
  const bool empty = fs::file_size(path, ignored) == 0 && !ignored;
  if (!force && !empty && !Reader::recognises(path.string())) return tl::unexpected(no_recording(path));
  if (!exchange(spare_, path, RENAME_EXCHANGE)) return tl::unexpected(refused(path, errno));
  // Somebody may have taken the name since it was looked at: then it is given back.
  if (is_being_recorded(spare_)) {
    exchange(spare_, path, RENAME_EXCHANGE);
    return tl::unexpected(in_use(path));
  }
  move_logs(path_, spare_);
  return {};
}

Result<OutputFile> OutputFile::claim(const std::string& named, const std::string& stem, bool force) {
  if (!named.empty()) {
    DMPROF_TRY(check_output(named, force));
    auto file = reserve(named);
    if (!file) return file;
    if (Status taken = file->take(named, force); !taken) {
      remove_recording(file->spare_);
      return tl::unexpected(taken.error());
    }
    return file;
  }
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto path = new_recording_path(stem);
    if (!path) return tl::unexpected(path.error());
    auto file = reserve(*path);
    if (!file) return file;
    file->path_ = *path;
    if (exchange(file->spare_, *path, RENAME_NOREPLACE)) {
      file->spare_.clear();
      return file;
    }
    const int error = errno;
    remove_recording(file->spare_);
    if (error != EEXIST) return tl::unexpected(refused(*path, error));
  }
  return fail(ErrorKind::environment, fmt::format("too many recordings named {}; name a file with -o", stem));
}

void OutputFile::keep() {
  if (!spare_.empty()) remove_recording(std::exchange(spare_, fs::path()));
}

void OutputFile::discard() {
  if (spare_.empty()) {
    remove_recording(path_);
    return;
  }
  std::error_code ignored;
  for (const char* suffix : logs) fs::remove(beside(path_, suffix), ignored);
  fs::rename(spare_, path_, ignored);
  move_logs(spare_, path_);
  spare_.clear();
}

}  // namespace dmprof::cli
