#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "samples/simcard/knobs/knobs.h"

namespace dmprof::simcard {
namespace {

constexpr const char* kFolders[] = {"module", "dm_corsair", "parameters"};
constexpr const char* kFile = "interleave_sched";

tl::unexpected<Error> trouble(const std::string& path, const char* mend) {
  return fail(ErrorKind::environment, fmt::format("{}: {}; {}", path, std::strerror(errno), mend));
}

// A directory of this user's that nobody else can write to; made where it does not exist.
Status private_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return trouble(path, "set DM_SYSFS_ROOT to a directory of yours");
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return trouble(path, "set DM_SYSFS_ROOT to a directory of yours");
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022) != 0)
    return fail(ErrorKind::environment,
                fmt::format("{}: not a private directory of this user; set DM_SYSFS_ROOT to one that is", path));
  return {};
}

Result<std::string> root(const Environment& environment) {
  const char* given = environment("DM_SYSFS_ROOT");
  if (given != nullptr && *given != '\0') return std::string(given);
  const char* runtime = environment("XDG_RUNTIME_DIR");
  // One that is gone (a login that ended) is none.
  struct stat there {};
  const bool usable = runtime != nullptr && *runtime == '/' && ::stat(runtime, &there) == 0 && S_ISDIR(there.st_mode);
  const std::string path = usable ? std::string(runtime) + "/dm-simcard"
                                  : fmt::format("/tmp/dm-simcard-{}", static_cast<unsigned>(geteuid()));
  DMPROF_TRY(private_directory(path));
  return path;
}

// It appears with what it holds: another simulation that begins now must not read it empty. Whoever comes first makes
// it.
Status make_file(const std::string& path, bool interleave) {
  constexpr const char* mend = "make its directory writable or set DM_SYSFS_ROOT";
  std::string fresh = path + ".XXXXXX";
  const int made = mkostemp(fresh.data(), O_CLOEXEC);
  if (made < 0) return trouble(path, mend);
  Status status;
  if (write(made, interleave ? "1\n" : "0\n", 2) != 2) {
    status = trouble(path, "is the disk full?");
  } else if (link(fresh.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    status = trouble(path, mend);
  }
  close(made);
  unlink(fresh.c_str());
  return status;
}

}  // namespace

Result<Sysfs> Sysfs::open(const Environment& environment, bool interleave) {
  Result<std::string> path = root(environment);
  if (!path) return tl::unexpected(path.error());
  for (const char* folder : kFolders) {
    *path += std::string("/") + folder;
    if (mkdir(path->c_str(), 0700) != 0 && errno != EEXIST)
      return trouble(*path, "make it, or set DM_SYSFS_ROOT to a directory of yours");
  }
  *path += std::string("/") + kFile;
  struct stat there {};
  if (lstat(path->c_str(), &there) != 0) DMPROF_TRY(make_file(*path, interleave));
  return Sysfs(std::move(*path));
}

Result<bool> Sysfs::interleave() const {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return trouble(path_, "write 0 or 1 to it");
  char text[16] = {};
  const ssize_t length = read(file, text, sizeof text);
  close(file);
  if (length < 0) return trouble(path_, "write 0 or 1 to it");
  std::string_view word(text, static_cast<std::size_t>(length));
  while (!word.empty() && (word.back() == '\n' || word.back() == ' ')) word.remove_suffix(1);
  if (word == "1" || word == "y" || word == "Y") return true;
  if (word == "0" || word == "n" || word == "N") return false;
  return fail(ErrorKind::bad_input, fmt::format("{}: holds neither 0 nor 1; `echo 1 > {}`", path_, path_));
}

std::optional<bool> Sysfs::watch() {
  const Result<bool> now = interleave();
  const std::string wrong = now ? "" : now.error().message;
  if (!wrong.empty() && wrong == seen_ && wrong != told_)
    fmt::print(stderr, "dm-simcard: warning: {}; until then the last setting holds\n", told_ = wrong);
  if (now) told_.clear();
  seen_ = wrong;
  return now ? std::optional<bool>(*now) : std::nullopt;
}

}  // namespace dmprof::simcard
