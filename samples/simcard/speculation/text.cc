#include "samples/simcard/speculation/text.h"

namespace dmprof::simcard {

Language::Language(const LanguageParameters& parameters, std::uint64_t seed)
    : classes_(parameters.classes), seed_(seed), ranks_(zipf_weights(parameters.classes, parameters.skew)) {}

// Each class orders its successors in its own way: an odd step through a power of two meets every class once.
std::uint32_t Language::follow(std::uint32_t from, Random& random) const {
  const std::uint64_t own = mix(seed_, from);
  const std::uint64_t step = (own >> 32) | 1;
  return static_cast<std::uint32_t>((own + ranks_.draw(random) * step) & (classes_ - 1));
}

Path::Path(const Language& language, std::uint64_t seed, std::uint64_t sequence)
    : language_(&language), text_(seed, "text", sequence), draft_(seed, "draft", sequence) {
  before_ = static_cast<std::uint32_t>(text_.below(language.classes()));
  token_ = language.follow(before_, text_);
}

std::uint32_t Path::truth(std::size_t ahead) {
  while (ahead_.size() <= ahead) ahead_.push_back(language_->follow(ahead_.empty() ? token_ : ahead_.back(), text_));
  return ahead_[ahead];
}

void Path::draft(const AcceptanceCurve& curve, double billions, std::uint32_t count, std::uint64_t length,
                 std::vector<Context>& contexts) {
  proposals_.clear();
  contexts.clear();
  std::uint32_t last = token_;
  bool on_path = true;
  for (std::uint32_t k = 0; k < count; ++k) {
    // Off the path the draft goes on as well or badly as before, on a text of its own.
    const std::uint32_t right = on_path ? truth(k) : language_->follow(last, draft_);
    std::uint32_t proposal = right;
    if (!draft_.chance(curve.at(billions, k + 1, length))) {
      proposal = static_cast<std::uint32_t>(draft_.below(language_->classes() - 1));
      if (proposal >= right) ++proposal;
    }
    on_path = on_path && proposal == right;
    contexts.push_back(language_->context(last, proposal));
    proposals_.push_back(proposal);
    last = proposal;
  }
}

std::uint32_t Path::accepted(std::uint32_t most) const {
  std::uint32_t count = 0;
  while (count < most && count < proposals_.size() && proposals_[count] == ahead_[count]) ++count;
  return count;
}

void Path::emit(std::uint32_t tokens) {
  for (std::uint32_t i = 0; i < tokens; ++i) {
    before_ = token_;
    token_ = truth(0);
    ahead_.pop_front();
  }
  proposals_.clear();
}

}  // namespace dmprof::simcard
