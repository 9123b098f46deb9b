#include <gmock/gmock.h>

#include <set>

#include "samples/simcard/speculation/predictor.h"

namespace dmprof::simcard {
namespace {

TEST(AcceptanceCurve, LargerDraftsAreRightMoreOftenLaterPositionsLess) {
  const AcceptanceCurve curve;
  EXPECT_LT(curve.at(1, 1, 100), curve.at(3, 1, 100));
  EXPECT_GT(curve.at(1, 1, 100), curve.at(1, 8, 100));
  EXPECT_GT(curve.at(1, 1, 4096), curve.at(1, 1, 65536));
  for (const double billions : {0.0, 1e-9, 1.0, 1e9}) {
    EXPECT_GE(curve.at(billions, 1, UINT64_MAX), 0) << billions;
    EXPECT_LE(curve.at(billions, 1, 0), 1) << billions;
  }
}

TEST(Path, RealisedAcceptanceIsTheCurve) {
  const Language language({.classes = 64, .skew = 1.5}, 3);
  Path path(language, 3, 1);
  const AcceptanceCurve curve{.miss_at_1b = 0.3, .size_exponent = 0, .position_decay = 1, .length_loss = 0};
  double first = 0;
  constexpr int rounds = 20000;
  for (int i = 0; i < rounds; ++i) {
    path.draft(curve, 1, 3, 10);
    first += path.accepted(3) >= 1 ? 1 : 0;
    path.emit(path.accepted(3) + 1);
  }
  EXPECT_NEAR(first / rounds, 0.7, 0.01);
}

TEST(Path, APerfectDraftIsAcceptedWhole) {
  const Language language({}, 3);
  Path path(language, 3, 1);
  const AcceptanceCurve curve{.miss_at_1b = 0, .size_exponent = 0, .position_decay = 1, .length_loss = 0};
  path.draft(curve, 1, 5, 10);
  EXPECT_EQ(path.accepted(5), 5u);
  EXPECT_EQ(path.accepted(2), 2u);
}

TEST(Language, TransitionsAreSkewedAndStayInRange) {
  const Language language({.classes = 16, .skew = 2}, 9);
  Random random(1, "walk");
  std::vector<int> counts(16);
  for (int i = 0; i < 4000; ++i) ++counts.at(language.follow(5, random));
  EXPECT_GT(*std::max_element(counts.begin(), counts.end()), 2000);
}

TEST(Selection, TheSameContextNeedsTheSameBlocksButForTheUnexplained) {
  const Selection exact({.layers = 4, .blocks = 32, .per_token = 3, .skew = 0.5, .noise = 0}, 1);
  std::vector<BlockNumber> a, b;
  exact.append(7, 1, 2, a);
  exact.append(7, 99, 2, b);
  EXPECT_EQ(a, b);
  for (const BlockNumber block : a) {
    EXPECT_GE(block, 64u);
    EXPECT_LT(block, 96u);
  }
  const Selection noisy({.layers = 4, .blocks = 32, .per_token = 3, .skew = 0.5, .noise = 1}, 1);
  std::set<BlockNumber> seen;
  for (std::uint64_t occasion = 0; occasion < 200; ++occasion) {
    a.clear();
    noisy.append(7, occasion, 2, a);
    seen.insert(a.begin(), a.end());
  }
  EXPECT_GT(seen.size(), 20u);
}

TEST(Selection, ADenseModelNeedsNoBlocks) {
  const Selection dense({.layers = 4, .blocks = 0, .per_token = 3}, 1);
  std::vector<BlockNumber> blocks;
  dense.append(7, 1, 2, blocks);
  EXPECT_TRUE(blocks.empty());
}

TEST(Predictor, PredictsWhatItSawAndNothingElse) {
  Predictor predictor({});
  predictor.learn(7, 2, {64, 65});
  std::vector<BlockNumber> blocks;
  predictor.predict(7, 2, blocks);
  EXPECT_THAT(blocks, testing::ElementsAre(64, 65));
  blocks.clear();
  predictor.predict(7, 3, blocks);
  predictor.predict(8, 2, blocks);
  EXPECT_TRUE(blocks.empty());
}

TEST(Predictor, MemoryIsBounded) {
  Predictor predictor({.rows = 8});
  for (Context context = 0; context < 1000; ++context) predictor.learn(context, 0, {context});
  EXPECT_LE(predictor.rows(), 8u);
}

}  // namespace
}  // namespace dmprof::simcard
