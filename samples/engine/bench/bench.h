// `dm-engine bench`: decode speed and verify cost of a model beside this machine's read bandwidth, in one interleaved
// run.
#pragma once

#include <span>
#include <string>

namespace dmengine {

// args: what follows the word `bench`. Prints one JSON object (or a table without --json) on stdout. Returns the exit
// status: 0 done, 2 usage, 4 bad model file, 6 environment.
int bench_main(std::span<const std::string> args);

}  // namespace dmengine
