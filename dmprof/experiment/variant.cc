#include "dmprof/experiment/variant.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "dmprof/base/shell.h"

namespace dmprof::experiment {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_value = 4096;  // as of a file below /sys

// Files below /sys take a value in one write and may not be truncated or replaced.
Status write_value(const fs::path& path, const std::string& value) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << value << std::flush;
  if (file) return {};
  return fail(
      ErrorKind::environment,
      fmt::format("{} cannot be written ({}); the knob is set through it: run as a user who may, or set it by hand",
                  path.string(), std::strerror(errno == 0 ? EIO : errno)));
}

}  // namespace

std::vector<std::string> shell_words(const Variant& variant, const fs::path& log) {
  std::string script;
  for (const std::string& name : variant.cleared) script += fmt::format("unset {}; ", shell_quoted(name));
  if (!variant.directory.empty()) script += fmt::format("cd {} || exit 1; ", shell_quoted(variant.directory));
  // The output is directed first, so that the shell can become the command.
  script = fmt::format("exec >{} 2>&1 </dev/null; {}{}", shell_quoted(log.string()), script, variant.line);
  return {"/bin/sh", "-c", script};
}

Result<HeldFile> HeldFile::set(const FileSetting& setting) {
  std::error_code error;
  std::optional<std::string> before;
  if (fs::exists(setting.path, error)) {
    // read() rather than iterators: those throw on what is no file.
    std::ifstream file(setting.path, std::ios::binary);
    before.emplace(largest_value, '\0');
    file.read(before->data(), static_cast<std::streamsize>(before->size()));
    before->resize(static_cast<std::size_t>(file.gcount()));
  } else {
    // An engine's own folder for such files may not have been made yet.
    fs::create_directories(setting.path.parent_path(), error);
  }
  HeldFile held(setting.path, std::move(before));
  if (auto written = write_value(setting.path, setting.value + "\n"); !written) {
    held.path_.clear();
    return tl::unexpected(written.error());
  }
  return held;
}

HeldFile::HeldFile(HeldFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), before_(std::move(other.before_)) {}

HeldFile::~HeldFile() {
  if (path_.empty()) return;
  std::error_code ignored;
  if (before_) {
    (void)write_value(path_, *before_);
  } else {
    fs::remove(path_, ignored);
  }
}

}  // namespace dmprof::experiment
