/* The shorthands are C: a C++ test calls them from here. */
#include "tests/unit/sdk/shorthand.h"

int emit_a_kernel_by_shorthand(dmprof_track* track) {
  int evaluated = 0;
  DMPROF_EMIT(track, kernel, DMPROF_SINCE(track, 0), .flops = (uint64_t)++evaluated);
  return evaluated;
}
