// The file a recording is written to: a name that is free or holds an older recording, which is only given up once the
// new one holds something. Two recorders never get the same name, however close together they start.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "dmprof/base/error.h"

namespace dmprof::cli {

// A recorder of this machine or of another one has not finished this file yet. Such a file is never replaced.
bool is_being_recorded(const std::filesystem::path& path);

// Movable; while it lives, the name is this recorder's. Destroy it after the writer: closing its descriptor lets go of
// the locks that this process holds on the file.
class OutputFile {
 public:
  // `named` as typed after -o, or where that is empty a new name in the data directory, made of the time and `stem`. An
  // older recording of that name steps aside with all its files, and with `force` a file of any kind. Errors: it is
  // still being recorded (usage), cannot be written or, without `force`, holds something else (environment).
  static Result<OutputFile> claim(const std::string& named, const std::string& stem, bool force = false);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // An empty file, ready to be written into.
  const std::filesystem::path& path() const { return path_; }

  // The new recording holds something: the older one goes.
  void keep();
  // It holds nothing: it goes, and the older one comes back.
  void discard();

 private:
  OutputFile() = default;
  static Result<OutputFile> reserve(const std::filesystem::path& path);
  Status take(const std::filesystem::path& path, bool force);

  std::filesystem::path path_;
  std::filesystem::path spare_;  // the reserved file before it has its name, then the older recording; empty: nothing
  int descriptor_ = -1;
};

}  // namespace dmprof::cli
