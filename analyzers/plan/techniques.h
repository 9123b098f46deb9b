// What seven techniques would leave of a key-value cache (FACTS.md B10). Each is a stated assumption put through
// arithmetic; none says what it does to quality. Pure arithmetic, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/plan/kv.h"

namespace dmprof::plan {

// The assumptions. Shares lie in [0, 1].
struct Techniques {
  double zero_share = 0.7;        // of cached elements that are zero (the article's figure)
  double fp8_share = 0.8;         // of the tokens: those with low attention scores, kept in one byte an element
  double recent_blocks = 2048;    // blocks of a sequence that stay in device memory
  double block_tokens = 16;       // tokens a block
  double old_read_share = 0.05;   // of the older tokens, fetched again in a step
  double shared_prefix = 0.3;     // of the context: begins like that of other requests
  double sharing = 8;             // requests that share one prefix, at least 1
  double delta_every = 8;         // one token of so many is kept whole, the others as differences
  double delta_bits = 12;         // of a difference
  double projected_heads = 0.25;  // share of the KV heads, those that matter least
  double projected_width = 0.25;  // of their head size that is kept
};

struct Footprint {
  std::string_view technique;
  // B of device memory: of one sequence alone, and once for all that share a prefix.
  double own = 0, shared = 0;
  double elsewhere = 0;   // B of one sequence in slower memory
  double read = 0;        // B a step that attention reads of one sequence from device memory
  double fetched = 0;     // B a step that come over the link from slower memory
  double operations = 0;  // a step and sequence beyond plain attention; below 0: saved
  double sequences = 0;   // whole ones that fit into the memory
  std::string reason;     // why the technique does not apply to this cache, "" where it does
  double bytes(double sharing) const { return own + shared / sharing; }  // of a sequence, its part of what is shared
};

// Names as in the rows: "as it is", "sparse-heads", "score-precision", "recent-blocks", "shared-prefixes",
// "precomputed-positions", "neighbour-deltas", "projected-heads", "combined".
//
// One by one, with b bytes an element and S of a sequence:
//   sparse-heads            the elements that are not zero and a bit for every element: (1 - z) b + 1/8
//   score-precision         s min(1, b) + (1 - s) b
//   recent-blocks           S x recent / context here, the rest in slower memory, of which a share is fetched in a step
//   shared-prefixes         S (1 - p), and S p once for every `sharing` requests; attention still reads every sequence
//   precomputed-positions   S as it is: keys are kept with their positions applied, which saves 3 operations a key
//                           element and step where an engine keeps them without (6 a pair; nothing with MLA's latent)
//   neighbour-deltas        b / n + (1 - 1/n) min(bits / 8, b)
//   projected-heads         (1 - u) b + u w b
// Combined, nothing is counted twice: a projected head is dense, so that sparsity is of the other heads only; sparsity
// and differences do not stack (neighbours' zeros do not coincide), so that those heads take the smaller of both and
// the projected ones differences; both act on what score-precision leaves of each token; the shared prefix is the
// oldest part, so that recent blocks take in the unshared part first.
std::vector<Footprint> kv_techniques(const KvShape& shape, double context, double memory, const Techniques& assumed);

}  // namespace dmprof::plan
