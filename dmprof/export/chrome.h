// A recording as Chrome trace JSON ("traceEvents"), which chrome://tracing, Perfetto and speedscope read.
#pragma once

#include "dmprof/base/error.h"
#include "dmprof/base/output.h"
#include "dmprof/store/reader.h"

namespace dmprof::exporting {

Status write_chrome(const Reader& reader, Output& output);

}  // namespace dmprof::exporting
