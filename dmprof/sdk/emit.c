/* The events that take more than one slot. */
#define _GNU_SOURCE
#include <string.h>

#include "dmprof/sdk/state.h"

static void fill_head(const dmprof_track* track, dmprof_slot_head* head, uint64_t time, uint8_t kind, uint8_t code,
                      uint32_t name) {
  head->time = time != 0 || track->clock != NULL ? time : dmprof_now(track);
  head->name = name;
  head->track = track->index;
  head->kind = kind;
  head->code = code;
}

/* Copies whole slots into the ring, which may wrap between them, and publishes them together. The track is attached. */
static void write_slots(dmprof_track* track, const void* event, uint64_t bytes) {
  const uint64_t slots = bytes / sizeof(dmprof_slot);
  if (!dmprof_has_room_(track, slots)) {
    dmprof_drop_(track, DMPROF_LOSS_RING_FULL);
    return;
  }
  dmprof_producer_* producer = track->producer;
  for (uint64_t i = 0; i < slots; i++) {
    memcpy(&producer->slots[(producer->head + i) & producer->mask], (const char*)event + i * sizeof(dmprof_slot),
           sizeof(dmprof_slot));
  }
  producer->head += slots;
  __atomic_store_n(&producer->ring->head, producer->head, __ATOMIC_RELEASE);
  dmprof_count_(track);
}

static void put_slots(dmprof_track* track, const void* event, uint64_t bytes) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  if (dmprof_attached_(track, active)) {
    write_slots(track, event, bytes);
  } else {
    dmprof_drop_(track, DMPROF_LOSS_NO_RING_MEMORY);
  }
}

/* Never looks at `active` again: an attachment that begins while the span ends would reset the track, and the caller's
 * depth, which it is about to write, would be one of the attachment before. */
void dmprof_end_with_argument_(dmprof_track* track, const dmprof_frame_* frame, uint32_t depth, uint64_t now) {
  dmprof_wire_slice wire = {
      .step = frame->step, .argument = frame->argument, .duration = now - frame->start, .depth = depth};
  wire.head = (dmprof_slot_head){frame->start, frame->name, track->index, DMPROF_KIND_SLICE, 0};
  write_slots(track, &wire, sizeof wire);
}

void dmprof_emit_slice_(dmprof_track* track, const dmprof_slice_event* event) {
  dmprof_wire_slice wire = {
      .step = event->step, .argument = event->argument, .duration = event->duration, .depth = event->depth};
  fill_head(track, &wire.head, event->start, DMPROF_KIND_SLICE, 0, event->name);
  put_slots(track, &wire, sizeof wire);
}

void dmprof_emit_request_(dmprof_track* track, const dmprof_request_event* event) {
  dmprof_wire_request wire = {
      .request = event->request, .tokens = event->tokens, .cached_tokens = event->cached_tokens};
  fill_head(track, &wire.head, event->time, DMPROF_KIND_REQUEST, event->point, event->request_class);
  put_slots(track, &wire, sizeof wire);
}

void dmprof_emit_step_(dmprof_track* track, const dmprof_step_event* event) {
  dmprof_wire_step wire = {.step = event->step,
                           .duration = event->duration,
                           .draft_time = event->draft_time,
                           .verify_time = event->verify_time,
                           .accept_time = event->accept_time,
                           .parameter_bytes = event->parameter_bytes,
                           .kv_bytes = event->kv_bytes,
                           .flops = event->flops,
                           .waiting = event->waiting,
                           .target_tokens = event->target_tokens};
  fill_head(track, &wire.head, event->start, DMPROF_KIND_STEP, event->phase, event->batch);
  put_slots(track, &wire, sizeof wire);
}

void dmprof_emit_speculation_(dmprof_track* track, const dmprof_speculation_event* event) {
  dmprof_wire_speculation wire = {.step = event->step,
                                  .request = event->request,
                                  .path = event->path,
                                  .draft_time = event->draft_time,
                                  .verify_time = event->verify_time,
                                  .accept_time = event->accept_time,
                                  .drafted = event->drafted,
                                  .verified = event->verified,
                                  .accepted = event->accepted,
                                  .emitted = event->emitted,
                                  .tree_depth = event->tree_depth,
                                  .tree_nodes = event->tree_nodes,
                                  .cut = event->cut};
  fill_head(track, &wire.head, event->time, DMPROF_KIND_SPECULATION, event->draft_type, event->position);
  put_slots(track, &wire, sizeof wire);
}

void dmprof_emit_block_access_(dmprof_track* track, const dmprof_block_access_event* event) {
  dmprof_wire_block_access wire = {.block = event->block,
                                   .wait = event->wait,
                                   .step = event->step,
                                   .bytes = event->bytes,
                                   .origin = event->origin,
                                   .prediction = event->prediction,
                                   .phase = event->phase};
  fill_head(track, &wire.head, event->time, DMPROF_KIND_BLOCK_ACCESS, event->outcome, event->tier);
  put_slots(track, &wire, sizeof wire);
}

void dmprof_emit_prefetch_(dmprof_track* track, const dmprof_prefetch_event* event) {
  dmprof_wire_prefetch wire = {
      .block = event->block, .victim = event->victim, .step = event->step, .bytes = event->bytes};
  fill_head(track, &wire.head, event->time, DMPROF_KIND_PREFETCH, event->point, event->tier);
  put_slots(track, &wire, sizeof wire);
}

void dmprof_emit_transfer_(dmprof_track* track, const dmprof_transfer_event* event) {
  dmprof_wire_transfer wire = {.duration = event->duration,
                               .bytes = event->bytes,
                               .useful_bytes = event->useful_bytes,
                               .block = event->block,
                               .to = event->to,
                               .queue_depth = event->queue_depth};
  fill_head(track, &wire.head, event->start, DMPROF_KIND_TRANSFER, 0, event->from);
  put_slots(track, &wire, sizeof wire);
}

void dmprof_emit_kernel_(dmprof_track* track, const dmprof_kernel_event* event) {
  dmprof_wire_kernel wire = {.duration = event->duration,
                             .flops = event->flops,
                             .bytes = event->bytes,
                             .stall = event->stall,
                             .step = event->step};
  fill_head(track, &wire.head, event->start, DMPROF_KIND_KERNEL, 0, event->name);
  put_slots(track, &wire, sizeof wire);
}
