// The portable functions of dmprof/workload under short names.
#pragma once

#include "dmprof/workload/portable_math.h"

namespace dmprof::simcard::math {

inline double exp(double x) { return workload::portable_exp(x); }
inline double log(double x) { return workload::portable_log(x); }
inline double pow(double x, double y) { return workload::portable_pow(x, y); }

}  // namespace dmprof::simcard::math
