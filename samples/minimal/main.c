/* The whole SDK in one loop: a toy engine that copies a block and computes with it; what it says about speculation is
 * made up. Record it with  dmprof run -o minimal.dmprof -- build/bin/dm-minimal 1000 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dmprof/sdk/dmprof.h"

static float weights[16][1024], block[1024], sum;

int main(int argc, char** argv) {
  const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  if (dmprof_init(&(dmprof_options){.engine = "minimal", .version = "1.0"}) != 0) fputs("not recordable\n", stderr);
  const uint32_t draft = dmprof_name("draft"), verify = dmprof_name("verify"), accept = dmprof_name("accept");
  const uint32_t whole = dmprof_name("step"), token = dmprof_name("token"), depth = dmprof_name("queue depth");
  const uint32_t knob = dmprof_knob_register(&(dmprof_knob){.name = "lookahead", .value = "4", .range = "1..8"});
  const uint32_t from = dmprof_capacity(&(dmprof_capacity_info){.name = "dram", .kind = "tier", .rank = 1});
  const uint32_t to = dmprof_capacity(&(dmprof_capacity_info){.name = "cache", .kind = "tier", .managed = 1});
  const uint32_t clock = dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL); /* dmprof_clock_set turns it */
  dmprof_track *track = dmprof_thread_track(), *card = dmprof_track_create("card", clock, 0);
  DMPROF_EMIT(track, request, .request = 1, .point = DMPROF_ARRIVE, .tokens = 12); /* .time left 0: now */
  for (uint64_t n = 1; n <= steps; n++) {
    const uint64_t start = dmprof_now(track);
    dmprof_set_step(track, n);
    dmprof_begin(track, whole);
    dmprof_phase(track, draft); /* the next phase, or the end of the span, ends it */
    DMPROF_EMIT(track, prefetch, .block = n % 16, .tier = to, .point = DMPROF_PREFETCH_ISSUED, .step = n);
    memcpy(block, weights[n % 16], sizeof block);
    DMPROF_EMIT(track, transfer, DMPROF_SINCE(track, start), .from = from, .to = to, .bytes = sizeof block);
    DMPROF_EMIT(track, prefetch, .block = n % 16, .tier = to, .point = DMPROF_PREFETCH_COMPLETED, .step = n);
    DMPROF_EMIT(track, block_access, .block = n % 16, .tier = to, .outcome = DMPROF_HIT, .origin = DMPROF_PREFETCHED,
                .step = n);
    dmprof_phase(track, verify);
    const uint64_t compute = dmprof_now(track);
    for (int i = 0; i < 1024; i++) sum += block[i] * block[i];
    DMPROF_EMIT(track, kernel, DMPROF_SINCE(track, compute), .name = verify, .flops = 2048, .step = n);
    dmprof_phase(track, accept);
    dmprof_counter(track, depth, (double)(n % 3));
    dmprof_end(track);
    dmprof_clock_set(clock, n * 1000);
    dmprof_instant(card, token, n);
    DMPROF_EMIT(track, step, DMPROF_SINCE(track, start), .step = n, .phase = DMPROF_DECODE, .batch = 1);
    DMPROF_EMIT(track, speculation, .step = n, .request = 1, .drafted = 4, .verified = 4, .accepted = 3, .emitted = 4);
    if (n == steps / 2) dmprof_knob_set(knob, "5");
  }
  DMPROF_EMIT(track, request, .request = 1, .point = DMPROF_REQUEST_END, .tokens = steps * 4);
  const dmprof_totals totals = dmprof_emitted(NULL);
  printf("emitted %llu lost %llu\n", (unsigned long long)totals.emitted, (unsigned long long)totals.lost);
  dmprof_shutdown();
}
