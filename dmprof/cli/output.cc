#include "dmprof/cli/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace dmprof::cli {

Status write_out(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  return fail(ErrorKind::environment, fmt::format("cannot write standard output: {}", std::strerror(errno)));
}

}  // namespace dmprof::cli
