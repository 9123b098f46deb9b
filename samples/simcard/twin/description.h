// What the twin knows of one engine on one machine. Plain data: samples/simcard/fit fills it from recordings, tests
// fill it by hand. Times are nanoseconds, sizes bytes; costs are real numbers because they are averages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/cachemodel/block.h"
#include "samples/simcard/core/random.h"

namespace dmprof::twin {

using cachemodel::BlockId;

// A recorded distribution as the means of equally probable bins, lowest first: a draw from it keeps the mean, tail
// included. Empty: always 0.
struct Bins {
  std::vector<double> means;

  double mean() const;
};
double draw(const Bins& bins, simcard::Random& random);

// Cost of one kind of operation by the tokens it computes, ascending. Between points it is a straight line; outside
// them the line of the two nearest points goes on, never below the smallest cost seen divided by its tokens. One point
// alone stands for a cost proportional to tokens.
struct CostPoint {
  std::uint32_t tokens = 0;
  double ns = 0;
  std::uint64_t samples = 0;
};

struct CostCurve {
  std::vector<CostPoint> points;

  double at(std::uint32_t tokens) const;
};

// One operation of a forward pass: the blocks it asks for, in order, and which cost curve it follows.
struct Operation {
  enum class Kind : std::uint8_t {
    plain,
    embed,
    output
  };                       // embed: one block a token; output: only for tokens with
                           // logits
  std::uint32_t cost = 0;  // index into ModelProgram::costs
  Kind kind = Kind::plain;
  std::vector<BlockId> blocks;
};

struct NamedCost {
  std::string name;
  CostCurve curve;
};

struct Block {
  std::uint64_t bytes = 0;
  std::uint64_t memory = 0;  // when resident, alignment included
};

// What one model does in a forward pass, whatever the tokens are.
struct ModelProgram {
  std::string name;           // file name without folder
  std::vector<Block> blocks;  // ids: the target's from 0, a draft's behind the target's
  std::vector<Operation> operations;
  std::vector<NamedCost> costs;
  Bins noise;             // a pass's compute time over the sum of its operations' typical costs
  double pass_other = 0;  // a pass, outside of its operations
  // Embedding blocks and how often tokens fell into them, for tokens whose block the recording does not show.
  std::vector<BlockId> embedding_blocks;
  std::vector<double> embedding_share;

  bool empty() const { return operations.empty(); }
};

// Where blocks come from. An imitated link serves a transfer from max(free, issue + latency) on and takes bytes /
// bandwidth; a real one is a thread that moves the bytes itself.
struct Link {
  bool imitated = true;
  double bytes_per_second = 0;
  std::int64_t latency = 0;  // imitated only
  double move_base = 0;      // a thread moving bytes takes move_base + bytes / move_bytes_per_second
  double move_bytes_per_second = 0;
  Bins excess;  // what a transfer takes beyond that (on a real link also: less)

  // What a transfer took beyond the link's own time, 0 at least.
  double excess_of(std::uint64_t bytes, std::int64_t duration) const;
};

// The machine's and the engine's own habits.
struct Habits {
  double plan = 0;  // looking ahead once, at `plan_distance`; proportional to the distance otherwise
  std::uint32_t plan_distance = 1;
  Bins miss_overshoot;       // from a block's arrival until the engine goes on, after a miss
  Bins late_overshoot;       // the same after waiting for a prefetch
  Bins prefetch_oversleep;   // from a prefetch's arrival until its thread looks for more
  double accept_step = 0;    // judging and bookkeeping, a step
  double between_steps = 0;  // from one step's end to the next one's start
};

// A draft's verdict on a position of a text, given the true text before it.
enum class Match : std::uint8_t { unknown = 0, wrong = 1, right = 2 };

struct RequestText {
  std::int64_t arrival = 0;  // after the first request's
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  bool ended_by_limit = true;           // else by an end of text
  std::vector<std::int64_t> embedding;  // target's block by position; -1: not seen
};

// What belongs to one draft.
struct DraftProfile {
  ModelProgram program;
  // By request, by output position (0 = first output token).
  std::vector<std::vector<Match>> matches;
  std::vector<std::vector<std::int64_t>> embedding;  // draft's block by position of the sequence; -1: not seen
  // Conditional acceptance by position in the chain, from 1: what chains of sampled text are drawn with.
  std::vector<double> acceptance;
  // Chance of a right verdict behind a right and behind a wrong one: what unknown verdicts of greedy text are drawn
  // with.
  double after_right = 0;
  double after_wrong = 0;
};

struct Description {
  ModelProgram target;
  std::vector<DraftProfile> drafts;
  Link link;
  Habits habits;
  std::vector<RequestText> requests;
  bool greedy = true;  // the text is the same whatever the settings
};

// What can be turned.
struct Settings {
  std::string draft;  // name of a profile's program; empty: no speculation
  std::uint32_t lookahead = 5;
  std::uint64_t resident = 0;
  std::uint32_t cache_policy = 2;
  std::uint32_t prefetch_distance = 8;
  std::uint32_t batch = 1;
  std::uint32_t max_concurrent = 0;  // 0 = batch
  std::uint32_t prefill_chunk = 64;
  std::uint32_t baseline_every = 0;
};

}  // namespace dmprof::twin
