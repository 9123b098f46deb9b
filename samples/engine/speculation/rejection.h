// Which draft tokens the target keeps, and the one token it adds. Rule of Leviathan, Kalman and Matias (arXiv
// 2211.17192): keep draft token x with probability min(1, p(x)/q(x)); at the first refusal draw from max(p - q, 0),
// normalised; when all were kept draw one more from p. What is emitted is then distributed exactly as p, whatever q is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "samples/engine/speculation/distribution.h"

namespace dmengine {

// A chain of draft tokens for one sequence. `q` holds one distribution a token (vocabulary entries each, as drawn
// from), or is empty when the tokens were not drawn but looked up: then q is a point mass.
struct DraftChain {
  std::vector<Token> tokens;
  std::vector<std::vector<float>> q;

  void clear() {
    tokens.clear();
    q.clear();
  }
};

struct Verdict {
  std::uint32_t accepted = 0;  // draft tokens kept, from the front
  Token next = 0;              // the token after them: the target's own choice (the bonus token when all were kept)
};

// Where the numbers of a draw come from (see random.h). `position` is that of the first draft token in its sequence.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t request = 0;
  std::uint64_t position = 0;
};

// Keeps scratch memory between calls; one thread at a time.
class Verifier {
 public:
  // `logits`: chain.tokens.size() + 1 rows of `vocabulary` entries, row i being the target's after draft tokens 0..i-1.
  Verdict judge(std::span<const float> logits, std::size_t vocabulary, const DraftChain& chain,
                const Sampling& sampling, const DrawKey& key);

  // The rule itself on one position: whether `token`, drawn from q (empty: a point mass), stands against p for this u.
  static bool keeps(std::span<const float> p, std::span<const float> q, Token token, double u);

  // The replacement after a refusal: u picks from max(p - q, 0).
  Token replace(std::span<const float> p, std::span<const float> q, Token token, double u);

 private:
  Transformer transformer_;
  std::vector<float> p_;
  std::vector<float> residual_;
};

}  // namespace dmengine
