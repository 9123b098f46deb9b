// `dm-simcard scenarios [--json | --markdown] [--only ID] [--threads N]`: the table of claims.
#pragma once

#include <span>

#include "samples/simcard/scenario/experiments.h"

namespace dmprof::simcard {

// `argv[0]` is the word "scenarios". Prints to stdout, errors to stderr; returns the exit status of the command-line
// contract.
int scenarios_command(int argc, const char* const* argv, std::span<const Experiment> experiments);

}  // namespace dmprof::simcard
