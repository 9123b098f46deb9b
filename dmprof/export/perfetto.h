// A recording as a Perfetto trace: protocol-buffer packets with tracks, slices, instants, counters and interned names.
// Field numbers are those of perfetto/protos/perfetto/trace/{trace_packet,track_event/*,interned_data/*}.proto.
#pragma once

#include "dmprof/base/error.h"
#include "dmprof/base/output.h"
#include "dmprof/store/reader.h"

namespace dmprof::exporting {

Status write_perfetto(const Reader& reader, Output& output);

}  // namespace dmprof::exporting
