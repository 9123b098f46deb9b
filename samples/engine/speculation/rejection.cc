#include "samples/engine/speculation/rejection.h"

#include "samples/engine/speculation/random.h"

namespace dmengine {

bool Verifier::keeps(std::span<const float> p, std::span<const float> q, Token token, double u) {
  const auto at = static_cast<std::size_t>(token);
  const double proposed = q.empty() ? 1.0 : static_cast<double>(q[at]);
  return u * proposed < static_cast<double>(p[at]);
}

Token Verifier::replace(std::span<const float> p, std::span<const float> q, Token token, double u) {
  residual_.assign(p.begin(), p.end());
  float total = 0;
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    const float taken = q.empty() ? (i == static_cast<std::size_t>(token) ? 1.0F : 0.0F) : q[i];
    residual_[i] = residual_[i] > taken ? residual_[i] - taken : 0.0F;
    total += residual_[i];
  }
  return total > 0 ? draw(residual_, u) : draw(p, u);  // p and q equal up to rounding: nothing is left to correct
}

Verdict Verifier::judge(std::span<const float> logits, std::size_t vocabulary, const DraftChain& chain,
                        const Sampling& sampling, const DrawKey& key) {
  Verdict verdict;
  for (std::size_t i = 0; i <= chain.tokens.size(); ++i) {
    const auto row = logits.subspan(i * vocabulary, vocabulary);
    const bool drafted = i < chain.tokens.size();
    if (sampling.greedy()) {
      verdict.next = argmax(row);
      if (!drafted || verdict.next != chain.tokens[i]) break;
    } else {
      // Rows behind the first refusal are never transformed: they were computed under a prefix that does not stand.
      transformer_.apply(row, sampling, p_);
      const std::uint64_t position = key.position + i;
      const double emit = uniform(key.seed, key.request, position, Draw::emit);
      if (!drafted) {
        verdict.next = draw(p_, emit);
        break;
      }
      const auto q = chain.q.empty() ? std::span<const float>{} : std::span<const float>(chain.q[i]);
      if (!keeps(p_, q, chain.tokens[i], uniform(key.seed, key.request, position, Draw::accept))) {
        verdict.next = replace(p_, q, chain.tokens[i], emit);
        break;
      }
    }
    ++verdict.accepted;
  }
  return verdict;
}

}  // namespace dmengine
