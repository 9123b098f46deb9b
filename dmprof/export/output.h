// A file (or standard output) that remembers its first error, so that writers need not check every byte.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "dmprof/base/error.h"

namespace dmprof::exporting {

class Output {
 public:
  // "-" is standard output. A file is written under a temporary name and takes its own name in close().
  static Result<std::unique_ptr<Output>> open(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view bytes);
  bool failed() const { return error_ != 0; }
  Status close();

 private:
  Output() = default;
  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
  int error_ = 0;
};

}  // namespace dmprof::exporting
