// A file (or standard output) that remembers its first error, so that writers need not check every byte. A file that is
// there already is only replaced by its own kind: a name typed by mistake must not cost anybody's notes.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dmprof/base/error.h"

namespace dmprof {

class Output {
 public:
  // "-" is standard output. A file is written under a temporary name and takes its own name in close(). With `force` a
  // file of any kind is replaced.
  static Result<std::unique_ptr<Output>> open(const std::string& path, bool force = false);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Before the first write. `kind` ("a Chrome trace") is for the message, as is `otherwise`, what a person can do
  // beside choosing another name; `made_by_us` is asked about the first bytes, at most longest_start, of the file that
  // would be replaced. Error: environment, the file is of another kind. An empty one may always be replaced, and
  // without claim() no other ever is.
  static constexpr std::size_t longest_start = 4096;
  Status claim(std::string_view kind, const std::function<bool(std::string_view)>& made_by_us,
               std::string_view otherwise = "replace it with --force");

  void write(std::string_view bytes);
  bool failed() const { return error_ != 0; }
  Status close();

 private:
  Output() = default;
  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
  bool may_replace_ = false;
  int error_ = 0;
};

}  // namespace dmprof
