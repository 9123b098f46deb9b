// The demand accesses of a recording in the form that a replay needs: who asked when, and what the consumer did
// between.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/registry/view.h"

namespace dmprof::whatif {

struct TraceBlock {
  std::uint64_t block = 0, bytes = 0;
  double work_after =
      0;             // ns of the consumer from having the block to the next access of the group, or the group's end
  bool hit = false;  // as recorded
  bool announced = false;  // the recorded prediction named it
};

// Blocks that are asked for together. Where the consumer asks one at a time every group has one.
struct TraceGroup {
  double work_before = 0;  // ns from the end of the group before until this one asks
  double lead = 0;         // ns from asking until the first block is wanted
  std::uint64_t step = 0;
  std::uint32_t place = 0;   // of the group in its step
  std::uint32_t tokens = 1;  // of the step's pass, per sequence
  double drafting = 0;  // ns of the step's candidate generation before its first access; first group of a step only
  bool first_of_step = false;
  bool counted = false;  // decode, no warm-up, no baseline step
  bool draft = false;    // asked by candidate generation
  std::vector<TraceBlock> blocks;
};

struct AccessTrace {
  TierId tier = 0;
  std::uint64_t budget = 0;  // bytes of the tier, 0 = unknown
  std::vector<TraceGroup> groups;
  bool grouped = false;  // asked together: see whether transfers start before their block is wanted
  // Mean work after a block that was resident and after one that was not: they may come another way.
  double work_after_hit = 0, work_after_miss = 0;
  // Recorded totals of what is counted.
  double draft_wait = 0, verify_wait = 0;
  std::uint64_t hits = 0, accesses = 0;
  double covered = 1;  // share of the decode steps that it reaches
  // Share of the blocks ever asked for at a place of a step that one token asks for, if tokens choose independently:
  // 1 - (1 - share asked for by the pass)^(1 / tokens of the pass). 1 for dense weights.
  double asked_by_token = 1;
};

// Of the fastest managed tier, the whole steps of the first `most` accesses. Nothing without accesses.
std::optional<AccessTrace> access_trace(const View& view, std::size_t most);

// The same steps with `to` instead of `from` tokens per sequence in a whole pass; narrower passes keep their share of
// it. Blocks that the recording does not show are drawn from those asked for at that place of other steps, as often as
// asked_by_token says, and announced as often as recorded ones were. Drafting takes its share longer or shorter.
AccessTrace with_tokens(const AccessTrace& trace, std::uint32_t from, std::uint32_t to);

}  // namespace dmprof::whatif
