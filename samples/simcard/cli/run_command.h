// `dm-simcard --scenario NAME|FILE [--seed S] [--duration S] [--cards N] [--json]`: one run of a card, recorded.
#pragma once

namespace dmprof::simcard {

// Prints to stdout, errors and where the knobs are to stderr; returns the exit status of the command-line contract.
int run_command(int argc, const char* const* argv);

}  // namespace dmprof::simcard
