#include "dmprof/base/exit_status.h"

#include <cerrno>
#include <cstring>

namespace dmprof {

int report_error(std::string_view program, const Error& error) {
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()), program.data(), error.message.c_str());
  return static_cast<int>(status_of(error.kind));
}

Status write_all(std::FILE* out, std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0) return {};
  return fail(ErrorKind::environment, std::string("cannot write standard output: ") + std::strerror(errno));
}

}  // namespace dmprof
