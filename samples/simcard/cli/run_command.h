// `dm-simcard --scenario NAME|FILE [--seed S] [--duration S] [--cards N] [--json]`: one run of a card, recorded; or,
// where the scenario is a row of the table of claims, that row.
#pragma once

#include <span>

#include "samples/simcard/scenario/experiments.h"

namespace dmprof::simcard {

// Prints to stdout, errors and where the knobs are to stderr; returns the exit status of the command-line contract.
// `experiments` are those that rows of the table may name.
int run_command(int argc, const char* const* argv, std::span<const Experiment> experiments);

}  // namespace dmprof::simcard
