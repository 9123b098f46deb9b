// Experiments on one card: rows A4, A13, A14.
#pragma once

#include <span>

#include "samples/simcard/scenario/experiments.h"

namespace dmprof::simcard {

// Settings of each: `duration` and `card`, as in a card's scenario file.
std::span<const Experiment> card_experiments();

}  // namespace dmprof::simcard
