// The random numbers of dmprof/workload under the simulation's own names.
#pragma once

#include "dmprof/workload/random.h"

namespace dmprof::simcard {

using workload::Discrete;
using workload::mix;
using workload::Random;
using workload::zipf_weights;

}  // namespace dmprof::simcard
