// Where recordings and the calibration live, and which recording a command means when no FILE was typed.
#pragma once

#include <filesystem>
#include <string>

#include "dmprof/base/error.h"

namespace dmprof::cli {

// $XDG_DATA_HOME/dmprof when that is an absolute path, else ~/.local/share/dmprof. Not created. Error: neither is
// known.
Result<std::filesystem::path> data_directory();

// Creates it (mode 0700) when it is not there.
Status make_data_directory();

// The recording in `directory` that was written last. Error (cannot_answer): there is none.
Result<std::filesystem::path> newest_recording(const std::filesystem::path& directory);

// `named` when it is not empty, else the newest recording of the data directory.
Result<std::filesystem::path> recording_or_newest(const std::string& named);

// A free name for a new recording of `command` in the data directory, which is created (mode 0700): UTC time, program
// name.
Result<std::filesystem::path> new_recording_path(const std::string& command);

// Checks early, before a command was started, that `output` can be written: its folder exists and is writable, it is no
// folder itself, and a file that is already there is a recording (anything else is not overwritten without `force`).
Status check_output(const std::filesystem::path& output, bool force = false);

// What is said about a file that -o names and that is kept.
Error no_recording(const std::filesystem::path& path);

}  // namespace dmprof::cli
