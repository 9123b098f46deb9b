#include "dmprof/decode/domain_events.h"

#include <cstring>

namespace dmprof::decode {
namespace {

template <class Wire>
Wire read(const dmprof_slot* slot) {
  Wire wire;
  std::memcpy(&wire, slot, sizeof wire);
  return wire;
}

TierId tier(const Context& context, std::uint32_t id) { return id < context.tiers.size() ? context.tiers[id] : 0; }

Verdict decode(const Context& context, const dmprof_wire_slice& wire, std::vector<Event>& out) {
  if (wire.depth > 0xffff || wire.head.time + wire.duration < wire.head.time) return Verdict::malformed;
  const TimeNs start = context.clock.time(wire.head.time);
  out.emplace_back(Slice{context.track, start, context.clock.time(wire.head.time + wire.duration) - start, context.name,
                         static_cast<std::uint32_t>(wire.depth), wire.step, wire.argument});
  return Verdict::good;
}

Verdict decode(const Context& context, const dmprof_wire_request& wire, std::vector<Event>& out) {
  if (wire.head.code > static_cast<std::uint8_t>(RequestPoint::fail)) return Verdict::malformed;
  out.emplace_back(RequestEvent{context.track, context.clock.time(wire.head.time), wire.request,
                                static_cast<RequestPoint>(wire.head.code), wire.tokens, wire.cached_tokens,
                                context.name});
  return Verdict::good;
}

Verdict decode(const Context& context, const dmprof_wire_step& wire, std::vector<Event>& out) {
  const ClockMap& clock = context.clock;
  if (wire.head.code > static_cast<std::uint8_t>(Phase::decode)) return Verdict::malformed;
  // Stages are disjoint and lie inside the step; compared one by one, so that sums cannot overflow.
  std::uint64_t left = wire.duration;
  for (const std::uint64_t stage : {wire.draft_time, wire.verify_time, wire.accept_time}) {
    if (stage > left) return Verdict::contradictory;
    left -= stage;
  }
  Step step;
  step.track = context.track;
  step.start = clock.time(wire.head.time);
  step.duration = clock.length(wire.duration);
  step.step = wire.step;
  step.phase = static_cast<Phase>(wire.head.code);
  step.batch = wire.head.name;
  step.waiting = wire.waiting;
  step.target_tokens = wire.target_tokens;
  step.draft_time = clock.length(wire.draft_time);
  step.verify_time = clock.length(wire.verify_time);
  step.accept_time = clock.length(wire.accept_time);
  step.parameter_bytes = wire.parameter_bytes;
  step.kv_bytes = wire.kv_bytes;
  step.flops = wire.flops;
  out.emplace_back(step);
  return Verdict::good;
}

Verdict decode(const Context& context, const dmprof_wire_speculation& wire, std::vector<Event>& out) {
  const ClockMap& clock = context.clock;
  if (wire.head.code > static_cast<std::uint8_t>(DraftType::tree) ||
      wire.cut > static_cast<std::uint32_t>(StepCut::baseline)) {
    return Verdict::malformed;
  }
  if (wire.verified > wire.drafted || wire.accepted > wire.verified) return Verdict::contradictory;
  SpeculationStep step;
  step.track = context.track;
  step.time = clock.time(wire.head.time);
  step.step = wire.step;
  step.request = wire.request;
  step.position = wire.head.name;
  step.drafted = wire.drafted;
  step.verified = wire.verified;
  step.accepted = wire.accepted;
  step.emitted = wire.emitted;
  step.draft_type = static_cast<DraftType>(wire.head.code);
  step.tree_depth = wire.tree_depth;
  step.tree_nodes = wire.tree_nodes;
  step.path = wire.path;
  step.cut = static_cast<StepCut>(wire.cut);
  step.draft_time = clock.length(wire.draft_time);
  step.verify_time = clock.length(wire.verify_time);
  step.accept_time = clock.length(wire.accept_time);
  out.emplace_back(step);
  return Verdict::good;
}

Verdict decode(const Context& context, const dmprof_wire_block_access& wire, std::vector<Event>& out) {
  if (wire.head.code > static_cast<std::uint8_t>(AccessOutcome::miss) ||
      wire.origin > static_cast<std::uint8_t>(BlockOrigin::demand) ||
      wire.prediction > static_cast<std::uint8_t>(Prediction::wrong) ||
      wire.phase > static_cast<std::uint8_t>(Phase::decode)) {
    return Verdict::malformed;
  }
  BlockAccess access;
  access.track = context.track;
  access.time = context.clock.time(wire.head.time);
  access.block = wire.block;
  access.tier = tier(context, wire.head.name);
  access.outcome = static_cast<AccessOutcome>(wire.head.code);
  access.origin = static_cast<BlockOrigin>(wire.origin);
  access.prediction = static_cast<Prediction>(wire.prediction);
  access.phase = static_cast<Phase>(wire.phase);
  access.bytes = wire.bytes;
  access.wait = context.clock.length(wire.wait);
  access.step = wire.step;
  out.emplace_back(access);
  return Verdict::good;
}

Verdict decode(const Context& context, const dmprof_wire_prefetch& wire, std::vector<Event>& out) {
  if (wire.head.code > static_cast<std::uint8_t>(PrefetchPoint::displaced)) return Verdict::malformed;
  out.emplace_back(Prefetch{context.track, context.clock.time(wire.head.time), wire.block,
                            tier(context, wire.head.name), static_cast<PrefetchPoint>(wire.head.code), wire.bytes,
                            wire.victim, wire.step});
  return Verdict::good;
}

Verdict decode(const Context& context, const dmprof_wire_transfer& wire, std::vector<Event>& out) {
  if (wire.useful_bytes > wire.bytes) return Verdict::contradictory;
  out.emplace_back(Transfer{context.track, context.clock.time(wire.head.time), context.clock.length(wire.duration),
                            tier(context, wire.head.name), tier(context, wire.to), wire.bytes, wire.useful_bytes,
                            wire.block, wire.queue_depth});
  return Verdict::good;
}

Verdict decode(const Context& context, const dmprof_wire_kernel& wire, std::vector<Event>& out) {
  if (wire.stall > wire.duration) return Verdict::contradictory;
  out.emplace_back(Kernel{context.track, context.clock.time(wire.head.time), context.clock.length(wire.duration),
                          context.name, wire.flops, wire.bytes, context.clock.length(wire.stall), wire.step});
  return Verdict::good;
}

}  // namespace

std::size_t slots_of(std::uint8_t kind) {
  static constexpr std::uint8_t lengths[] = {0, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 2, 2};
  return kind < sizeof lengths ? lengths[kind] : 0;
}

Verdict decode_domain_event(const Context& context, const dmprof_slot* slot, std::vector<Event>& out) {
  switch (slot->head.kind) {
    case DMPROF_KIND_SLICE:
      return decode(context, read<dmprof_wire_slice>(slot), out);
    case DMPROF_KIND_REQUEST:
      return decode(context, read<dmprof_wire_request>(slot), out);
    case DMPROF_KIND_STEP:
      return decode(context, read<dmprof_wire_step>(slot), out);
    case DMPROF_KIND_SPECULATION:
      return decode(context, read<dmprof_wire_speculation>(slot), out);
    case DMPROF_KIND_BLOCK_ACCESS:
      return decode(context, read<dmprof_wire_block_access>(slot), out);
    case DMPROF_KIND_PREFETCH:
      return decode(context, read<dmprof_wire_prefetch>(slot), out);
    case DMPROF_KIND_TRANSFER:
      return decode(context, read<dmprof_wire_transfer>(slot), out);
    case DMPROF_KIND_KERNEL:
      return decode(context, read<dmprof_wire_kernel>(slot), out);
    default:
      return Verdict::malformed;
  }
}

}  // namespace dmprof::decode
