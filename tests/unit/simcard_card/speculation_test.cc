#include <gmock/gmock.h>

#include <set>

#include "dmprof/cachemodel/transition.h"
#include "samples/simcard/speculation/attention.h"
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
  std::vector<Context> contexts;
  double first = 0;
  constexpr int rounds = 20000;
  for (int i = 0; i < rounds; ++i) {
    path.draft(curve, 1, 3, 10, contexts);
    first += path.accepted(3) >= 1 ? 1 : 0;
    path.emit(path.accepted(3) + 1);
  }
  EXPECT_NEAR(first / rounds, 0.7, 0.01);
}

TEST(Path, APerfectDraftIsAcceptedWhole) {
  const Language language({}, 3);
  Path path(language, 3, 1);
  const AcceptanceCurve curve{.miss_at_1b = 0, .size_exponent = 0, .position_decay = 1, .length_loss = 0};
  std::vector<Context> contexts;
  path.draft(curve, 1, 5, 10, contexts);
  EXPECT_EQ(contexts.size(), 5u);
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

TEST(Selection, ATokenNeedsEachOfItsBlocksOnce) {
  for (const std::uint32_t per_token : {1u, 3u, 8u}) {
    const Selection selection({.layers = 4, .blocks = 8, .per_token = per_token, .skew = 1.5, .noise = 0.3}, 1);
    for (std::uint64_t occasion = 0; occasion < 100; ++occasion) {
      std::vector<BlockNumber> blocks = {3};  // of somebody else
      selection.append(7, occasion, 2, blocks);
      EXPECT_EQ(std::set<BlockNumber>(blocks.begin() + 1, blocks.end()).size(), per_token);
    }
  }
}

TEST(Selection, ADenseModelNeedsNoBlocks) {
  const Selection dense({.layers = 4, .blocks = 0, .per_token = 3}, 1);
  std::vector<BlockNumber> blocks;
  dense.append(7, 1, 2, blocks);
  EXPECT_TRUE(blocks.empty());
}

std::vector<BlockNumber> attended(const Attention& attention, std::uint64_t sequence, std::uint64_t length,
                                  std::uint64_t occasion, std::uint32_t layer = 1) {
  std::vector<BlockNumber> blocks;
  attention.append(sequence, length, 77, occasion, layer, blocks);
  return blocks;
}

TEST(Attention, DenseAttentionSelectsNothingAShortSequenceIsReadWhole) {
  EXPECT_TRUE(attended(Attention({.attended = 0}, 0, 1), 1, 5000, 0).empty());
  const Attention sparse({.attended = 640, .kv_block = 64}, 0, 1);
  EXPECT_TRUE(attended(sparse, 1, 0, 0).empty());
  const std::vector<BlockNumber> whole = attended(sparse, 1, 600, 0);
  EXPECT_EQ(std::set<BlockNumber>(whole.begin(), whole.end()).size(), 10u);
}

TEST(Attention, ALongSequenceIsReadInTheNewestBlockAndAFewThatTheContextSelects) {
  const Attention sparse({.attended = 640, .kv_block = 64}, 0, 1);
  const std::vector<BlockNumber> early = attended(sparse, 1, 64'000, 0), later = attended(sparse, 1, 65'000, 5);
  EXPECT_EQ(early.size(), 10u);
  EXPECT_EQ(early[0] & 0xfff, 999u);
  std::set<BlockNumber> kept(early.begin(), early.end());
  std::size_t both = 0;
  for (const BlockNumber block : later) both += kept.contains(block) ? 1 : 0;
  EXPECT_GE(both, 8u);  // a sequence that grows keeps its choices; the newest block is another
  for (const BlockNumber block : early) {
    EXPECT_TRUE(is_kv(block));
    for (const BlockNumber other : attended(sparse, 2, 64'000, 0)) EXPECT_NE(block, other);
    for (const BlockNumber other : attended(sparse, 1, 64'000, 0, 2)) EXPECT_NE(block, other);
  }
  const Attention noisy({.attended = 640, .kv_block = 64}, 1, 1);
  EXPECT_NE(attended(noisy, 1, 64'000, 0), attended(noisy, 1, 64'000, 1));
}

TEST(Attention, NoBlockLiesBeyondTheSequence) {
  const Attention sparse({.attended = 128, .kv_block = 64}, 0.5, 1);
  for (std::uint64_t length = 1; length < 3000; length += 7) {
    for (const BlockNumber block : attended(sparse, 3, length, length)) ASSERT_LE((block & 0x3fffff) * 64, length - 1);
  }
}

SelectionParameters two_layers() { return {.layers = 2, .blocks = 32, .per_token = 2}; }

std::vector<BlockNumber> predicted(const Predictor& predictor, Context context, std::uint32_t first_layer = 0) {
  std::vector<BlockNumber> blocks;
  predictor.predict(context, first_layer, blocks);
  return blocks;
}

TEST(Predictor, PredictsWhatItSawAndNothingElse) {
  Predictor predictor({}, two_layers());
  const std::vector<BlockNumber> seen = {7, 3, 40, 41};
  predictor.learn(7, seen);
  EXPECT_THAT(predicted(predictor, 7), testing::ElementsAre(3, 7, 40, 41));
  EXPECT_THAT(predicted(predictor, 7, 1), testing::ElementsAre(40, 41));
  EXPECT_THAT(predicted(predictor, 8), testing::IsEmpty());
}

TEST(Predictor, MemoryIsBoundedAndTheContextLearnedLongestAgoGoesFirst) {
  Predictor predictor({.rows = 7}, two_layers());
  const std::vector<BlockNumber> seen = {0, 1, 32, 33};
  for (Context context = 0; context < 1000; ++context) {
    predictor.learn(context, seen);
    EXPECT_LE(predictor.rows(), 7u);
  }
  EXPECT_THAT(predicted(predictor, 999), testing::SizeIs(4));
  EXPECT_THAT(predicted(predictor, 996), testing::ElementsAre(32, 33));  // half of it made room
  EXPECT_THAT(predicted(predictor, 995), testing::IsEmpty());
  Predictor tiny({.rows = 1}, {.layers = 5, .blocks = 8, .per_token = 1});
  const std::vector<BlockNumber> once = {0, 8, 16, 24, 32};
  tiny.learn(1, once);
  tiny.learn(1, once);
  EXPECT_EQ(tiny.rows(), 2u);
  EXPECT_THAT(predicted(tiny, 1), testing::ElementsAre(24, 32));
}

// The rows lie side by side, but they count as the rows of cachemodel's matrix do: same rule, same predictions.
TEST(Predictor, PredictsAsTheTransitionMatrixOfTokensAndLayersWould) {
  const SelectionParameters shape{.layers = 5, .blocks = 60, .per_token = 3, .skew = 0.4, .noise = 0.4};
  for (const std::size_t rows : {4u, 43u, 100'000u}) {
    const Selection selection(shape, 1);
    Predictor predictor({.rows = rows, .min_probability = 0.03}, shape);
    cachemodel::TransitionMatrix matrix({.order = 1, .max_rows = rows, .max_successors = 32, .decay_at = 256});
    const auto node = [](Context context, std::uint32_t layer) {
      return std::uint64_t{1} << 63 | context << 8 | layer;
    };
    Random random(3, "contexts");
    for (std::uint64_t round = 0; round < 4000; ++round) {
      const auto context = static_cast<Context>(random.below(random.chance(0.5) ? 3 : 20));
      std::vector<BlockNumber> needed;
      for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        const std::size_t before = needed.size();
        selection.append(context, round, layer, needed);
        for (std::size_t i = before; i < needed.size(); ++i) {
          matrix.forget_position();
          matrix.observe(node(context, layer));
          matrix.observe(needed[i]);
        }
      }
      predictor.learn(context, needed);
      if (round % 7 != 0) continue;
      const auto asked = static_cast<Context>(random.below(20));
      std::vector<BlockNumber> expected;
      for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
        for (const cachemodel::State& each : matrix.advance({{{std::nullopt, node(asked, layer)}, 1.0}}, 64, 0.03))
          expected.push_back(each.position.current);
      }
      ASSERT_EQ(predicted(predictor, asked), expected) << rows << " rows, round " << round;
      ASSERT_EQ(predictor.rows(), matrix.rows());
    }
  }
}

}  // namespace
}  // namespace dmprof::simcard
