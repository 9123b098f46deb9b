// Reads a recording out of the store.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzers/registry/recording.h"
#include "dmprof/base/error.h"
#include "dmprof/store/reader.h"

namespace dmprof {

// Tables always, events of the wanted kinds. Of several processes with steps only one is kept (the busiest unless
// `process` names another) and `note` says so: their step ids and clocks do not mix. Errors are the reader's.
Result<Recording> load_recording(const Reader& reader, Events wanted, std::optional<std::uint32_t> process = {});

}  // namespace dmprof
