/* The whole SDK in one loop: an imaginary engine that drafts, verifies and accepts. Record it with
 *   dmprof run -o minimal.dmprof -- build/bin/dm-minimal 1000 */
#include <stdio.h>
#include <stdlib.h>

#include "dmprof/sdk/dmprof.h"

int main(int argc, char** argv) {
  const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  const dmprof_options options = {.engine = "minimal", .version = "1.0"};
  if (dmprof_init(&options) != 0) fprintf(stderr, "minimal: not recordable: no control page\n");

  const dmprof_knob lookahead = {
      .name = "lookahead", .value = "4", .type = "integer", .range = "1..8", .how = "flag", .handle = "--lookahead"};
  const uint32_t knob = dmprof_knob_register(&lookahead);
  const dmprof_capacity_info dram = {
      .name = "dram", .kind = "tier", .rank = 1, .size_bytes = 1ull << 34, .measured_bandwidth = 12e9};
  const dmprof_capacity_info cache = {.name = "cache", .kind = "tier", .managed = 1, .size_bytes = 8u << 20};
  const uint32_t from = dmprof_capacity(&dram), to = dmprof_capacity(&cache);
  const uint32_t draft = dmprof_name("draft"), verify = dmprof_name("verify"), accept = dmprof_name("accept");
  const uint32_t step_name = dmprof_name("step"), token = dmprof_name("token"), depth = dmprof_name("queue depth");
  dmprof_track* track = dmprof_thread_track();
  dmprof_track* link = dmprof_track_create("link", 0, 0);

  dmprof_request(track, &(dmprof_request_event){.request = 1, .point = DMPROF_ARRIVE, .tokens = 12});
  for (uint64_t step = 1; step <= steps; step++) {
    const uint64_t start = dmprof_now(track);
    dmprof_set_step(track, step);
    dmprof_begin(track, step_name);
    dmprof_phase(track, draft);
    dmprof_block_access(track,
                        &(dmprof_block_access_event){
                            .block = step % 16, .tier = to, .outcome = DMPROF_MISS, .bytes = 4096, .step = step});
    dmprof_prefetch(track, &(dmprof_prefetch_event){.block = step % 16 + 1, .tier = to, .bytes = 4096, .step = step});
    dmprof_transfer(link, &(dmprof_transfer_event){.start = start,
                                                   .duration = dmprof_now(track) - start,
                                                   .from = from,
                                                   .to = to,
                                                   .bytes = 4096,
                                                   .useful_bytes = 4096});
    dmprof_phase(track, verify);
    dmprof_kernel(track, &(dmprof_kernel_event){.start = start,
                                                .duration = dmprof_now(track) - start,
                                                .name = verify,
                                                .flops = 1000,
                                                .bytes = 4096,
                                                .step = step});
    dmprof_phase(track, accept);
    dmprof_instant(track, token, step);
    dmprof_counter(track, depth, (double)(step % 3));
    dmprof_end(track); /* closes the phase too */
    dmprof_step(track, &(dmprof_step_event){.start = start,
                                            .duration = dmprof_now(track) - start,
                                            .step = step,
                                            .phase = DMPROF_DECODE,
                                            .batch = 1,
                                            .target_tokens = 5});
    dmprof_speculation(track, &(dmprof_speculation_event){.step = step,
                                                          .request = 1,
                                                          .drafted = 4,
                                                          .verified = 4,
                                                          .accepted = 3,
                                                          .emitted = 4,
                                                          .draft_type = DMPROF_DRAFT_MODEL,
                                                          .tree_depth = 4,
                                                          .tree_nodes = 4});
    if (step == steps / 2) dmprof_knob_set(knob, "5");
  }
  dmprof_request(track, &(dmprof_request_event){.request = 1, .point = DMPROF_REQUEST_END, .tokens = steps * 4});
  const dmprof_totals totals = dmprof_emitted(NULL);
  printf("emitted %llu lost %llu\n", (unsigned long long)totals.emitted, (unsigned long long)totals.lost);
  dmprof_shutdown();
  return 0;
}
