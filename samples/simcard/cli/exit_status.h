// How the program ends when something is wrong: one line on stderr and the exit status of the command-line contract.
#pragma once

#include "dmprof/base/error.h"

namespace dmprof::simcard {

int report(const Error& error);

}  // namespace dmprof::simcard
