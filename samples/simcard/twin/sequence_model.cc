#include "samples/simcard/twin/sequence_model.h"

#include <algorithm>

namespace dmprof::twin {

Verdicts::Verdicts(const Description& description, const DraftProfile* draft, simcard::Random& random)
    : description_(description), draft_(draft), random_(random) {
  if (draft_ == nullptr || !description_.greedy) return;
  matches_ = draft_->matches;
  matches_.resize(description_.requests.size());
  for (std::size_t i = 0; i < matches_.size(); ++i) {
    matches_[i].resize(description_.requests[i].output_tokens, Match::unknown);
    Match before = Match::right;
    for (Match& match : matches_[i]) {
      const double chance_here = before == Match::right ? draft_->after_right : draft_->after_wrong;
      if (match == Match::unknown) match = random_.uniform() < chance_here ? Match::right : Match::wrong;
      before = match;
    }
  }
}

// Beyond the recorded lookahead the last position's acceptance goes on.
double Verdicts::chance(std::size_t place) const {
  if (draft_->acceptance.empty()) return 0;
  return draft_->acceptance[std::min(place, draft_->acceptance.size() - 1)];
}

std::uint32_t Verdicts::accepted(std::size_t request, std::uint32_t position, std::uint32_t length) {
  if (draft_ == nullptr) return 0;
  const RequestText& text = description_.requests[request];
  std::uint32_t count = 0;
  for (; count < length; ++count) {
    const std::size_t place = position + count - text.prompt_tokens;
    if (place >= text.output_tokens) break;
    if (description_.greedy ? matches_[request][place] != Match::right : !(random_.uniform() < chance(count))) break;
  }
  return count;
}

}  // namespace dmprof::twin
