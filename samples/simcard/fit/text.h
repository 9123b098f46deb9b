// What a recording shows of the texts: which drafts agreed with them, and the embedding block of every token that
// passed through a model.
#pragma once

#include <span>
#include <vector>

#include "analyzers/registry/recording.h"
#include "dmprof/base/error.h"
#include "samples/simcard/fit/acceptance.h"
#include "samples/simcard/fit/passes.h"
#include "samples/simcard/twin/description.h"

namespace dmprof::twin {

struct RecordedTexts {
  std::vector<RequestText> requests;                       // by request id, from 1
  std::vector<std::vector<Match>> matches;                 // see DraftProfile
  std::vector<std::vector<std::int64_t>> draft_embedding;  // see DraftProfile
};

// cannot_answer where no request is there from its arrival to its end.
Result<RecordedTexts> read_texts(const Recording& recording, std::span<const RecordedPass> passes);

// Verdicts counted in whole drafting steps.
AcceptanceCounts count_acceptance(const Recording& recording);

// Chance of a right verdict behind a right and behind a wrong one, over known neighbours. A side nobody saw takes the
// other's; both unseen: 0.
struct Persistence {
  double after_right = 0, after_wrong = 0;
};
Persistence persistence_of(const std::vector<std::vector<Match>>& matches);

}  // namespace dmprof::twin
