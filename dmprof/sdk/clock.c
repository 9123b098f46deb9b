#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dmprof/sdk/state.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

uint64_t dmprof_monotonic_(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* The processor must promise an invariant TSC, and the kernel must still trust it: it takes `tsc` off its list of clock
 * sources when the cores disagree. */
int dmprof_tsc_is_invariant_(void) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & (1u << 8))) return 0;
  const int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[256];
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  char* rest = NULL; /* strtok itself would disturb the host program's own use of it */
  for (char* word = strtok_r(text, " \n", &rest); word != NULL; word = strtok_r(NULL, " \n", &rest)) {
    if (strcmp(word, "tsc") == 0) return 1;
  }
#endif
  return 0;
}

static uint64_t first_ticks, first_ns;

static uint64_t ticks(void) {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return dmprof_monotonic_();
#endif
}

void dmprof_clock_calibrate_(void) {
  first_ns = dmprof_monotonic_();
  first_ticks = ticks();
}

double dmprof_tsc_to_ns_(uint64_t difference) {
  uint64_t elapsed = dmprof_monotonic_() - first_ns;
  if (elapsed < 20000000) { /* too short a base for a rate */
    const struct timespec rest = {0, (long)(20000000 - elapsed)};
    nanosleep(&rest, NULL);
    elapsed = dmprof_monotonic_() - first_ns;
  }
  return (double)difference * (double)elapsed / (double)(ticks() - first_ticks);
}
