#include "samples/simcard/fit/passes.h"

#include <algorithm>
#include <string_view>

namespace dmprof::twin {
namespace {

constexpr std::string_view kDraft = "draft.";

struct Stretch {
  TimeNs begin, end;
  bool first;  // of the two halves of looking ahead
};

// Looking ahead on the engine's own track: it happens inside a request for a block, so its time is no arithmetic.
std::vector<Stretch> planning(const Recording& recording, TrackId track) {
  std::vector<Stretch> found;
  for (const Slice& slice : recording.slices) {
    if (slice.track != track) continue;
    const std::string_view name = recording.name(slice.name);
    if (name == "path_prediction" || name == "prefetch_scheduling") {
      found.push_back({slice.start, slice.start + slice.duration, name == "path_prediction"});
    }
  }
  return found;
}

}  // namespace

std::uint32_t RecordedPass::logit_rows() const {
  if (!has_logits()) return 0;
  double all_tokens = 0;
  for (const RecordedOperation& operation : operations) {
    if (operation.name != "output" && !operation.blocks.empty())
      all_tokens = std::max(all_tokens, operation.flops_per_byte);
  }
  if (all_tokens <= 0) return tokens();
  const double rows = operations.back().flops_per_byte / all_tokens * tokens();
  return static_cast<std::uint32_t>(std::clamp(rows + 0.5, 1.0, static_cast<double>(std::max(tokens(), 1U))));
}

Result<std::vector<RecordedPass>> cut_passes(const Recording& recording) {
  if (recording.kernels.empty()) {
    return fail(ErrorKind::cannot_answer,
                "the recording holds no kernels: record dm-engine with --kernel-events on (its default)");
  }
  if (recording.accesses.empty()) {
    return fail(
        ErrorKind::cannot_answer,
        "the recording holds no block accesses: record dm-engine with --resident SIZE, so that weights are streamed");
  }
  const TrackId track = recording.kernels.front().track;
  const std::vector<Stretch> plans = planning(recording, track);
  std::vector<RecordedPass> passes;
  std::size_t access = 0, plan = 0;
  for (const Kernel& kernel : recording.kernels) {
    if (kernel.track != track) continue;
    const TimeNs end = kernel.start + kernel.duration;
    std::string_view name = recording.name(kernel.name);
    const bool draft = name.starts_with(kDraft);
    if (draft) name.remove_prefix(kDraft.size());
    RecordedOperation operation;
    operation.name = name;
    if (kernel.bytes > 0)
      operation.flops_per_byte = static_cast<double>(kernel.flops) / static_cast<double>(kernel.bytes);
    TimeNs waited_until = kernel.start, planned = 0;
    std::uint32_t looks = 0;
    const auto plan_before = [&](TimeNs time) {
      for (; plan < plans.size() && plans[plan].begin < time; ++plan) {
        if (plans[plan].begin < waited_until) continue;
        planned += plans[plan].end - plans[plan].begin;
        looks += plans[plan].first;
      }
    };
    while (access < recording.accesses.size() && recording.accesses[access].time < kernel.start) ++access;
    while (plan < plans.size() && plans[plan].begin < kernel.start) ++plan;
    for (; access < recording.accesses.size() && recording.accesses[access].time < end; ++access) {
      const BlockAccess& asked = recording.accesses[access];
      if (asked.track != track) continue;
      plan_before(asked.time);
      waited_until = asked.time + asked.wait;
      operation.blocks.push_back(asked.block);
    }
    plan_before(end);
    operation.compute = static_cast<double>(std::max<TimeNs>(kernel.duration - kernel.stall - planned, 0));
    if (name == "embed") {
      passes.emplace_back();
      passes.back().draft = draft;
      passes.back().step = kernel.step;
      passes.back().embedding = std::move(operation.blocks);
      operation.blocks.clear();
    }
    if (passes.empty()) continue;  // the rest of a pass that had begun before the recording
    if (passes.back().draft != draft) {
      return fail(
          ErrorKind::cannot_answer,
          "a kernel of one model follows one of the other without an embedding: this is no recording of dm-engine");
    }
    passes.back().duration += kernel.duration;
    passes.back().planning += planned;
    passes.back().plans += looks;
    passes.back().operations.push_back(std::move(operation));
  }
  if (passes.empty()) {
    return fail(ErrorKind::cannot_answer, "no kernel is named embed: this is no recording of dm-engine");
  }
  return passes;
}

}  // namespace dmprof::twin
