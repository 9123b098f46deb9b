// The calibration of this machine: where it is kept, whether it is of this machine, and how it enters a recording.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "dmprof/base/error.h"
#include "dmprof/calibrate/calibrate.h"
#include "dmprof/event/sink.h"

namespace dmprof::cli {

Result<std::filesystem::path> calibration_path();

// What the machine says about itself, as calibrate::measure() wants it. `threads` 0: every processor this process may
// use.
calibrate::Options calibration_options(std::uint32_t threads);

// The stored calibration; nothing when there is none or when it was taken on another processor (`reason` says which).
std::optional<calibrate::Calibration> usable_calibration(std::string& reason);

// Tells the recording what divides its bytes and FLOPs: capacities "dram" and "compute" of no process, and the facts
// under calibration.* of its environment.
Status store_calibration(EventSink& sink, const calibrate::Calibration& calibration, std::uint64_t memory_bytes);

}  // namespace dmprof::cli
