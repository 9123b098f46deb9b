#include "analyzers/whatif/access_trace.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "analyzers/registry/tiers.h"
#include "dmprof/event/describe.h"

namespace dmprof::whatif {
namespace {

bool by_start(const Kernel* a, const Kernel* b) { return a->start < b->start; }

// The kernels of the consumer, in time order; an access belongs to the one it falls into.
class Kernels {
 public:
  explicit Kernels(const Recording& recording) {
    for (const Kernel& kernel : recording.kernels) sorted_.push_back(&kernel);
    std::stable_sort(sorted_.begin(), sorted_.end(), by_start);
  }
  const Kernel* around(const BlockAccess& access) const {
    const auto after = std::upper_bound(sorted_.begin(), sorted_.end(), access.time,
                                        [](TimeNs time, const Kernel* kernel) { return time < kernel->start; });
    if (after == sorted_.begin()) return nullptr;
    const Kernel* kernel = *std::prev(after);
    return kernel->step == access.step && access.time <= end_of(*kernel) ? kernel : nullptr;
  }

 private:
  std::vector<const Kernel*> sorted_;
};

// Blocks are asked for ahead of their use where the transfer of a missed block had begun before it was wanted.
bool asked_together(const Recording& recording, TierId tier) {
  std::unordered_map<std::uint64_t, std::vector<const Transfer*>> transfers;
  for (const Transfer& transfer : recording.transfers) {
    if (transfer.to == tier) transfers[transfer.block].push_back(&transfer);
  }
  std::uint64_t ahead = 0, known = 0;
  for (const BlockAccess& access : recording.accesses) {
    if (access.tier != tier || access.outcome != AccessOutcome::miss) continue;
    const auto found = transfers.find(access.block);
    if (found == transfers.end()) continue;
    const TimeNs wanted = add_duration(access.time, access.wait);
    const auto last = std::partition_point(found->second.begin(), found->second.end(),
                                           [&](const Transfer* each) { return each->start <= wanted; });
    if (last == found->second.begin()) continue;
    ++known;
    ahead += (*std::prev(last))->start < access.time;
  }
  return known >= 20 && ahead * 4 >= known;
}

struct Means {
  double hit = 0, miss = 0;
  std::uint64_t hits = 0, misses = 0;
  void add(const TraceBlock& block) {
    (block.hit ? hit : miss) += block.work_after;
    ++(block.hit ? hits : misses);
  }
};

void add_group(const View& view, TraceGroup group, AccessTrace& trace) {
  const Step* step = view.find_step(group.step);
  const bool opens = trace.groups.empty() || trace.groups.back().step != group.step;
  if (step != nullptr && opens) {
    group.first_of_step = true;
    group.drafting = std::min(group.work_before, static_cast<double>(step->draft_time));
  }
  if (!opens) group.place = trace.groups.back().place + 1;
  if (step != nullptr && step->batch > 0) group.tokens = std::clamp(step->target_tokens / step->batch, 1u, 1024u);
  trace.groups.push_back(std::move(group));
}

// Every block ever asked for, by place in a step.
std::vector<std::set<std::uint64_t>> population(const AccessTrace& trace) {
  std::vector<std::set<std::uint64_t>> at_place;
  for (const TraceGroup& group : trace.groups) {
    if (at_place.size() <= group.place) at_place.resize(group.place + 1);
    for (const TraceBlock& block : group.blocks) at_place[group.place].insert(block.block);
  }
  return at_place;
}

double asked_by_token(const AccessTrace& trace) {
  const std::vector<std::set<std::uint64_t>> at_place = population(trace);
  double asked = 0, there = 0, tokens = 0, groups = 0;
  for (const TraceGroup& group : trace.groups) {
    if (!group.counted) continue;
    asked += static_cast<double>(group.blocks.size());
    there += static_cast<double>(at_place[group.place].size());
    tokens += group.tokens, ++groups;
  }
  if (groups == 0 || asked >= there) return 1;
  return 1 - std::pow(1 - asked / there, groups / tokens);
}

// Of the decode steps, those that began before `time`.
double share_of_steps(const View& view, TimeNs time) {
  const std::vector<Step> steps = view.steps({});
  const auto before = std::count_if(steps.begin(), steps.end(), [time](const Step& step) { return step.start < time; });
  return steps.empty() ? 1 : static_cast<double>(before) / static_cast<double>(steps.size());
}

}  // namespace

std::optional<AccessTrace> access_trace(const View& view, std::size_t most) {
  const Recording& recording = view.recording();
  const std::optional<TierId> tier = cache::fastest_tier(view, {});
  if (!tier) return std::nullopt;
  AccessTrace trace;
  trace.tier = *tier;
  if (const auto capacity = recording.capacities.find(*tier); capacity != recording.capacities.end())
    trace.budget = capacity->second.size_bytes;
  const Kernels kernels(recording);
  trace.grouped = !recording.kernels.empty() && asked_together(recording, *tier);
  Means means;
  const Kernel* current = nullptr;
  TimeNs free_at = 0;  // the consumer has its last block
  TraceGroup group;
  bool any = false;
  std::size_t taken = 0;
  const auto close = [&] {
    if (!any) return;
    if (current != nullptr)
      group.blocks.back().work_after = static_cast<double>(std::max<TimeNs>(0, end_of(*current) - free_at));
    if (current != nullptr) free_at = std::max(free_at, end_of(*current));
    if (trace.grouped) {
      for (const TraceBlock& block : group.blocks) means.add(block);
    }
    add_group(view, std::move(group), trace);
    group = {};
    any = false;
  };
  for (const BlockAccess& access : recording.accesses) {
    if (access.tier != *tier) continue;
    if (taken >= most && access.step != group.step) {
      trace.covered = share_of_steps(view, access.time);
      break;
    }
    ++taken;
    const Kernel* kernel = trace.grouped ? kernels.around(access) : nullptr;
    if (!any || kernel == nullptr || kernel != current) {
      close();
      current = kernel;
      const TimeNs asks = kernel != nullptr ? kernel->start : access.time;
      if (!trace.groups.empty()) group.work_before = static_cast<double>(std::max<TimeNs>(0, asks - free_at));
      group.lead = static_cast<double>(access.time - asks);
      group.step = access.step;
      const Step* step = view.find_step(access.step);
      group.counted = step != nullptr && view.class_of(*step) == View::StepClass::decode;
      group.draft = step != nullptr && access.time < end_of(*step) - step->accept_time - step->verify_time;
      any = true;
    } else {
      group.blocks.back().work_after = static_cast<double>(std::max<TimeNs>(0, access.time - free_at));
    }
    const bool hit = access.outcome != AccessOutcome::miss;
    group.blocks.push_back({access.block, access.bytes, 0, hit, access.prediction == Prediction::right});
    free_at = add_duration(access.time, std::max<TimeNs>(0, access.wait));
    if (!group.counted) continue;
    ++trace.accesses;
    trace.hits += access.outcome == AccessOutcome::hit;
    (group.draft ? trace.draft_wait : trace.verify_wait) += static_cast<double>(access.wait);
  }
  close();
  if (trace.groups.empty()) return std::nullopt;
  if (trace.grouped) trace.asked_by_token = asked_by_token(trace);
  if (means.hits > 0) trace.work_after_hit = means.hit / static_cast<double>(means.hits);
  if (means.misses > 0) trace.work_after_miss = means.miss / static_cast<double>(means.misses);
  return trace;
}

AccessTrace with_tokens(const AccessTrace& trace, std::uint32_t from, std::uint32_t to) {
  AccessTrace changed = trace;
  if (from == to || from == 0) return changed;
  const std::vector<std::set<std::uint64_t>> at_place = population(trace);
  std::uint64_t announced = 0, all = 0, dice = 1;
  for (const TraceGroup& group : trace.groups) {
    for (const TraceBlock& block : group.blocks) ++all, announced += block.announced;
  }
  const double told = all == 0 ? 0 : static_cast<double>(announced) / static_cast<double>(all);
  const auto chance = [&dice](double share) {
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(dice >> 33) * 0x1p-31 < share;
  };
  const auto asked = [&](double tokens) { return 1 - std::pow(1 - trace.asked_by_token, tokens); };
  for (TraceGroup& group : changed.groups) {
    if (!group.counted || group.draft || group.blocks.empty()) continue;
    const double tokens = static_cast<double>(group.tokens) * to / from;
    if (group.first_of_step && group.tokens > 1) {
      const double longer = group.drafting * ((tokens - 1) / (group.tokens - 1) - 1);
      group.drafting += longer, group.work_before = std::max(0.0, group.work_before + longer);
    }
    const double before = asked(group.tokens), after = asked(tokens);
    group.tokens = static_cast<std::uint32_t>(std::max(1.0, std::round(tokens)));
    if (after < before) {
      const double keep = after / before;
      const TraceBlock last = group.blocks.back();
      std::erase_if(group.blocks, [&](const TraceBlock&) { return !chance(keep); });
      if (group.blocks.empty()) group.blocks.push_back(last);
      continue;
    }
    std::set<std::uint64_t> there;
    for (const TraceBlock& block : group.blocks) there.insert(block.block);
    for (const std::uint64_t block : at_place[group.place]) {
      if (there.contains(block) || before >= 1 || !chance((after - before) / (1 - before))) continue;
      const bool named = chance(told);
      group.blocks.push_back(
          {block, group.blocks.front().bytes, named ? trace.work_after_hit : trace.work_after_miss, named, named});
    }
  }
  return changed;
}

}  // namespace dmprof::whatif
