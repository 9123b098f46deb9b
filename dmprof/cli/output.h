// Standard output, with its failures noticed: a full disk or a closed pipe is an error, not half an answer.
#pragma once

#include <string_view>

#include "dmprof/base/error.h"

namespace dmprof::cli {

Status write_out(std::string_view text);

}  // namespace dmprof::cli
