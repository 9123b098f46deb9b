// One way to run the recorded command again: its shell line, and where a knob is set through a file, that file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dmprof/base/error.h"

namespace dmprof::experiment {

struct FileSetting {
  std::filesystem::path path;
  std::string value;
};

struct Variant {
  std::string name;                  // for people: "as recorded", "lookahead = 8"
  std::string line;                  // a command line for a shell, variables in front
  std::string directory;             // where it runs; "" = here
  std::vector<std::string> cleared;  // environment variables it must not see
  std::vector<FileSetting> files;
};

// The words to start it with, for /bin/sh. What the command prints goes to `log`; it reads nothing.
std::vector<std::string> shell_words(const Variant& variant, const std::filesystem::path& log);

// Holds a file at a value while it lives, and puts back what was there before (the content, or no file).
// Error (environment): the file cannot be written.
class HeldFile {
 public:
  static Result<HeldFile> set(const FileSetting& setting);
  HeldFile(HeldFile&& other) noexcept;
  HeldFile& operator=(HeldFile&&) = delete;
  ~HeldFile();

 private:
  HeldFile(std::filesystem::path path, std::optional<std::string> before)
      : path_(std::move(path)), before_(std::move(before)) {}
  std::filesystem::path path_;  // empty: nothing to put back
  std::optional<std::string> before_;
};

}  // namespace dmprof::experiment
