#pragma once

#include "dmprof/sdk/dmprof.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns how often the arguments were evaluated.
int emit_a_kernel_by_shorthand(dmprof_track* track);

#ifdef __cplusplus
}
#endif
