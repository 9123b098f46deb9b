// The rule of speculative sampling: what is emitted is the target's distribution, whatever the draft proposes.
#include "samples/engine/speculation/rejection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "samples/engine/speculation/random.h"

namespace dmengine {
namespace {

constexpr std::size_t vocabulary = 6;
// 99.9 % quantile of chi-square; the draws are functions of fixed seeds, so a pass stays a pass.
double critical(std::size_t degrees) {
  const double z = 3.0902;
  const auto k = static_cast<double>(degrees);
  return k * std::pow(1 - 2 / (9 * k) + z * std::sqrt(2 / (9 * k)), 3);  // Wilson-Hilferty
}

// Target and draft logits as functions of the previous token, so that later positions depend on what was kept before
// them.
std::vector<float> target_logits(Token previous) {
  std::vector<float> row(vocabulary);
  for (std::size_t i = 0; i < vocabulary; ++i)
    row[i] = 2.0F * std::sin(1.7F * static_cast<float>(i + 1) * static_cast<float>(previous + 2));
  return row;
}
std::vector<float> draft_logits(Token previous) {
  std::vector<float> row(vocabulary);
  for (std::size_t i = 0; i < vocabulary; ++i)
    row[i] = 1.5F * std::cos(0.9F * static_cast<float>(i + 2) * static_cast<float>(previous + 1));
  return row;
}

struct Case {
  const char* name;
  float temperature;
  float top_p;
  std::size_t lookahead;
  bool point_mass;
};

class EmittedDistribution : public testing::TestWithParam<Case> {};

// Chi-square of the first two emitted tokens (a pair: the second position is conditional on the first) against the
// target.
TEST_P(EmittedDistribution, is_the_targets) {
  const Case& c = GetParam();
  Sampling sampling{.temperature = c.temperature, .top_p = c.top_p, .seed = 20261130};
  Transformer transformer;
  Verifier verifier;
  const Token start = 1;
  constexpr std::size_t draws = 60000;
  std::vector<std::size_t> pairs(vocabulary * vocabulary, 0);

  for (std::uint64_t request = 1; request <= draws; ++request) {
    std::vector<Token> text{start};
    while (text.size() < 3) {
      DraftChain chain;
      Token previous = text.back();
      std::vector<float> rows = target_logits(previous);
      for (std::size_t i = 0; i < c.lookahead; ++i) {
        std::vector<float> q;
        transformer.apply(draft_logits(previous), sampling, q);
        if (c.point_mass) {
          chain.tokens.push_back(argmax(q));
        } else {
          chain.tokens.push_back(draw(q, uniform(sampling.seed, request, text.size() + i, Draw::propose)));
          chain.q.push_back(q);
        }
        previous = chain.tokens.back();
        const auto row = target_logits(previous);
        rows.insert(rows.end(), row.begin(), row.end());
      }
      const Verdict v = verifier.judge(rows, vocabulary, chain, sampling, {sampling.seed, request, text.size()});
      text.insert(text.end(), chain.tokens.begin(), chain.tokens.begin() + v.accepted);
      text.push_back(v.next);
    }
    ++pairs[static_cast<std::size_t>(text[1]) * vocabulary + static_cast<std::size_t>(text[2])];
  }

  std::vector<float> first;
  std::vector<float> second;
  transformer.apply(target_logits(start), sampling, first);
  double chi_square = 0;
  std::size_t cells = 0;
  for (std::size_t a = 0; a < vocabulary; ++a) {
    transformer.apply(target_logits(static_cast<Token>(a)), sampling, second);
    for (std::size_t b = 0; b < vocabulary; ++b) {
      const double expected = static_cast<double>(draws) * first[a] * second[b];
      const auto seen = static_cast<double>(pairs[a * vocabulary + b]);
      if (expected == 0) {
        EXPECT_EQ(seen, 0) << "a token outside top_p was emitted: " << a << ' ' << b;
        continue;
      }
      chi_square += (seen - expected) * (seen - expected) / expected;
      ++cells;
    }
  }
  ASSERT_GT(cells, 1U);
  EXPECT_LT(chi_square, critical(cells - 1)) << cells << " cells";
}

INSTANTIATE_TEST_SUITE_P(rule, EmittedDistribution,
                         testing::Values(Case{"one_token", 1.0F, 1.0F, 1, false},
                                         Case{"chain_of_four", 1.0F, 1.0F, 4, false},
                                         Case{"low_temperature", 0.6F, 1.0F, 3, false},
                                         Case{"top_p", 1.0F, 0.8F, 3, false}, Case{"looked_up", 1.0F, 1.0F, 3, true},
                                         Case{"looked_up_top_p", 0.9F, 0.7F, 2, true},
                                         Case{"no_draft", 1.0F, 0.9F, 0, false}),
                         [](const auto& test) { return std::string(test.param.name); });

// The test above must be able to fail: keeping every draft token gives the draft's distribution, and the statistic sees
// it.
TEST(Rejection, statistic_notices_a_draft_that_is_never_refused) {
  Transformer transformer;
  const Sampling sampling{.temperature = 1, .top_p = 1, .seed = 7};
  std::vector<float> p;
  std::vector<float> q;
  transformer.apply(target_logits(1), sampling, p);
  transformer.apply(draft_logits(1), sampling, q);
  std::vector<std::size_t> seen(vocabulary, 0);
  constexpr std::size_t draws = 60000;
  for (std::uint64_t request = 1; request <= draws; ++request) {
    ++seen[static_cast<std::size_t>(draw(q, uniform(7, request, 1, Draw::propose)))];
  }
  double chi_square = 0;
  for (std::size_t i = 0; i < vocabulary; ++i) {
    const double expected = static_cast<double>(draws) * p[i];
    chi_square += (static_cast<double>(seen[i]) - expected) * (static_cast<double>(seen[i]) - expected) / expected;
  }
  EXPECT_GT(chi_square, critical(vocabulary - 1));
}

TEST(Rejection, acceptance_rate_is_the_overlap_of_the_two_distributions) {
  const std::vector<float> p{0.5F, 0.3F, 0.2F};
  const std::vector<float> q{0.2F, 0.2F, 0.6F};  // sum of min(p, q) = 0.6
  std::size_t kept = 0;
  constexpr std::size_t draws = 50000;
  for (std::uint64_t i = 0; i < draws; ++i) {
    const Token token = draw(q, uniform(3, i, 0, Draw::propose));
    kept += Verifier::keeps(p, q, token, uniform(3, i, 0, Draw::accept)) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(kept) / draws, 0.6, 0.01);
}

TEST(Rejection, never_keeps_a_token_the_target_cannot_emit) {
  const std::vector<float> p{1.0F, 0.0F};
  const std::vector<float> q{0.5F, 0.5F};
  EXPECT_FALSE(Verifier::keeps(p, q, 1, 0.0));
  EXPECT_TRUE(Verifier::keeps(p, q, 0, 0.999999));
}

TEST(Rejection, greedy_keeps_the_longest_agreeing_prefix_and_adds_the_targets_choice) {
  const std::vector<float> rows{0, 1, 0, /**/ 1, 0, 0, /**/ 0, 0, 1};
  DraftChain chain;
  chain.tokens = {1, 2};
  Verifier verifier;
  const Verdict refused = verifier.judge(rows, 3, chain, {}, {});
  EXPECT_EQ(refused.accepted, 1U);
  EXPECT_EQ(refused.next, 0);
  chain.tokens = {1, 0};
  const Verdict all = verifier.judge(rows, 3, chain, {}, {});
  EXPECT_EQ(all.accepted, 2U);
  EXPECT_EQ(all.next, 2);
}

TEST(Distribution, ties_go_to_the_lowest_id) {
  EXPECT_EQ(argmax(std::vector<float>{1, 3, 3, 2}), 1);
  Transformer transformer;
  std::vector<float> p;
  transformer.apply(std::vector<float>{1, 1, 1, 1}, {.temperature = 1, .top_p = 0.5F}, p);
  EXPECT_EQ(p, (std::vector<float>{0.5F, 0.5F, 0, 0}));
}

TEST(Distribution, top_p_keeps_at_least_the_most_probable_token) {
  Transformer transformer;
  std::vector<float> p;
  transformer.apply(std::vector<float>{0, 2, 1}, {.temperature = 1, .top_p = 1e-9F}, p);
  EXPECT_EQ(p, (std::vector<float>{0, 1, 0}));
}

TEST(Distribution, survives_logits_of_a_damaged_model) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  Transformer transformer;
  std::vector<float> p;
  const Sampling tiny{.temperature = 1e-38F, .top_p = 0.9F};
  for (const auto& logits : {std::vector<float>{nan, nan}, std::vector<float>{-inf, -inf}, std::vector<float>{nan, inf},
                             std::vector<float>{1, nan}, std::vector<float>{3e38F, -3e38F}}) {
    const Token best = argmax(logits);
    transformer.apply(logits, tiny, p);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(p[i], i == static_cast<std::size_t>(best) ? 1.0F : 0.0F);
    EXPECT_EQ(draw(p, 0.5), best);
  }
}

TEST(Random, depends_on_every_part_of_its_key_and_on_nothing_else) {
  const double base = uniform(1, 2, 3, Draw::accept);
  EXPECT_EQ(base, uniform(1, 2, 3, Draw::accept));
  EXPECT_NE(base, uniform(2, 2, 3, Draw::accept));
  EXPECT_NE(base, uniform(1, 3, 3, Draw::accept));
  EXPECT_NE(base, uniform(1, 2, 4, Draw::accept));
  EXPECT_NE(base, uniform(1, 2, 3, Draw::emit));
  EXPECT_NE(uniform(1, 2, 3, Draw::accept), uniform(2, 1, 3, Draw::accept));
}

TEST(Random, is_uniform_over_positions) {
  std::vector<std::size_t> bins(20, 0);
  for (std::uint64_t position = 0; position < 40000; ++position) {
    const double u = uniform(0, 1, position, Draw::emit);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<std::size_t>(u * 20)];
  }
  double chi_square = 0;
  for (const std::size_t seen : bins)
    chi_square += (static_cast<double>(seen) - 2000) * (static_cast<double>(seen) - 2000) / 2000;
  EXPECT_LT(chi_square, critical(19));
}

}  // namespace
}  // namespace dmengine
