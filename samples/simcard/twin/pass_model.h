// A forward pass in virtual time: operations in order, each asking for its blocks in groups of as many as may be held,
// computing on a group, and giving it back.
#pragma once

#include <span>
#include <vector>

#include "samples/simcard/core/random.h"
#include "samples/simcard/twin/description.h"
#include "samples/simcard/twin/stream_model.h"

namespace dmprof::twin {

// A token of a pass: the block its embedding row lies in (-1: drawn), and whether it gets logits.
struct PassToken {
  std::int64_t embedding = -1;
  bool logits = false;
};

class PassModel {
 public:
  // Everything must outlive the model.
  PassModel(const ModelProgram& program, StreamModel& stream, simcard::Random& random)
      : program_(program), stream_(stream), random_(random) {}

  // Returns when the pass ends. More tokens than the engine takes at once become several passes.
  Time run(std::span<const PassToken> tokens, Time now, std::uint64_t step, bool prefill);

 private:
  Time run_one(std::span<const PassToken> tokens, Time now, std::uint64_t step, bool prefill);
  Time multiply(const Operation& operation, double compute, Time now, std::uint64_t step, bool prefill);
  BlockId embedding_of(const PassToken& token);

  const ModelProgram& program_;
  StreamModel& stream_;
  simcard::Random& random_;
};

}  // namespace dmprof::twin
