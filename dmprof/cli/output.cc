#include "dmprof/cli/output.h"

#include <cstdio>

#include "dmprof/base/exit_status.h"

namespace dmprof::cli {

Status write_out(std::string_view text) { return write_all(stdout, text); }

}  // namespace dmprof::cli
