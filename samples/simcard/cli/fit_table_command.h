// `dm-simcard fit-table`: fits the preset c8-node to the published batch table (row A11) and prints parameters and
// residuals. samples/simcard/presets/c8-node.yaml holds what it found.
#pragma once

namespace dmprof::simcard {

// `argv[0]` is the word "fit-table". Prints to stdout, errors to stderr; returns the exit status of the command-line
// contract.
int fit_table_command(int argc, const char* const* argv);

}  // namespace dmprof::simcard
