// Acceptance that was measured of a real engine in the place of the stated curve.
#include <fstream>

#include <gmock/gmock.h>

#include "dmprof/base/description/document.h"
#include "samples/simcard/card/read.h"
#include "tests/unit/simcard_card/cards.h"
#include "tests/unit/simcard_card/recording_observer.h"

namespace dmprof::simcard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The part of a fit file that counts here; a draft twice as large was right more often.
constexpr const char* kFit = R"(format: 1
engine: "dm-engine 0.1.0"
acceptance:
  - draft: small.gguf
    parameter_bytes: 1000000
    by_position: [[10000, 9000, 0.9], [9000, 5400, 0.6], [5400, 2700, 0.5]]
    by_length:
      - {from_tokens: 0, by_position: [[9990, 8991, 0.9], [8991, 5394, 0.6], [5394, 2697, 0.5]]}
      - {from_tokens: 64, by_position: [[10, 0, 0.0], [0, 0, 0.0]]}
  - draft: large.gguf
    parameter_bytes: 2000000
    by_position: [[1000, 950, 0.95], [950, 800, 0.84], [0, 0, 0.0]]
    by_length: []
)";

std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/fitted_acceptance_test_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Result<CardScenario> scenario(const std::string& text) {
  const Result<Document> document = Document::parse("title: t\ncard:\n  text:\n" + text, "s.yaml");
  if (!document) return tl::unexpected(document.error());
  return read_card_scenario(document->root());
}

std::string refusal(const std::string& text) {
  const Result<CardScenario> read = scenario(text);
  return read ? "accepted" : read.error().message;
}

// Accepted and reached drafts by position.
struct Counting : KeepingObserver {
  std::vector<double> reached = std::vector<double>(8), accepted = reached;
  void on_speculation(const SpeculationReport& r) override {
    for (std::uint32_t k = 0; k < r.drafted && k <= r.accepted; ++k) {
      ++reached[k];
      accepted[k] += k < r.accepted;
    }
  }
};

TEST(FittedAcceptance, ACardAcceptsByPositionWhatTheFileSays) {
  const Result<CardScenario> read = scenario("    acceptance_fit: " + file("fit.yaml", kFit) + "\n");
  ASSERT_TRUE(read) << read.error().message;
  CardParameters p = dense_card();
  p.acceptance = read->parameters.acceptance;
  p.model.selection.layers = 2;
  p.settings.lookahead = 4;  // the fourth was not measured and takes the third's
  p.workload.outputs.typical = 500;
  Counting counts;
  run_for(p, 2, 1, &counts);
  const std::vector<double> says{0.9, 0.6, 0.5, 0.5};
  for (std::size_t k = 0; k < says.size(); ++k) {
    ASSERT_GT(counts.reached[k], 500) << k;
    const double error = 3.5 * std::sqrt(says[k] * (1 - says[k]) / counts.reached[k]);
    EXPECT_NEAR(counts.accepted[k] / counts.reached[k], says[k], error) << k;
  }
}

TEST(FittedAcceptance, SizesAreInProportionToTheDraftsBytes) {
  AcceptanceCurve curve;
  curve.fitted_billions = 1;
  ASSERT_TRUE(use_fit(file("sizes.yaml", kFit), curve));
  EXPECT_DOUBLE_EQ(curve.at(1, 1, 10), 0.9);
  EXPECT_DOUBLE_EQ(curve.at(2, 1, 10), 0.95);
  EXPECT_NEAR(curve.at(std::sqrt(2.0), 1, 10), 0.925, 1e-12);  // half way in the logarithm
  EXPECT_NEAR(curve.at(8, 1, 10), 1 - 0.05 / 2, 1e-12);        // the miss falls with size^-0.5
  EXPECT_NEAR(curve.at(0.25, 1, 10), 1 - 0.1 * 2, 1e-12);
  EXPECT_EQ(curve.at(1e-9, 9, 10), 0);
  EXPECT_DOUBLE_EQ(curve.at(1, 1, 100), 0.9);  // ten verdicts are none
  curve.fitted_billions = 3;
  ASSERT_TRUE(use_fit(file("sizes.yaml", kFit), curve));
  EXPECT_DOUBLE_EQ(curve.at(3, 1, 10), 0.9);
}

TEST(FittedAcceptance, LengthsWithEnoughVerdictsHaveFiguresOfTheirOwn) {
  std::string text = kFit;
  const std::string thin = "[[10, 0, 0.0], [0, 0, 0.0]]";
  text.replace(text.find(thin), thin.size(), "[[1000, 300, 0.3], [300, 30, 0.1]]");
  AcceptanceCurve curve;
  ASSERT_TRUE(use_fit(file("lengths.yaml", text), curve));
  EXPECT_DOUBLE_EQ(curve.at(1, 1, 63), 0.9);
  EXPECT_DOUBLE_EQ(curve.at(1, 1, 64), 0.3);
  EXPECT_DOUBLE_EQ(curve.at(1, 2, 100000), 0.1);
  EXPECT_DOUBLE_EQ(curve.at(1, 3, 100000), 0.5);
}

TEST(FittedAcceptance, BrokenAndForeignFilesGiveOneLine) {
  const auto of = [](const char* name, const std::string& text) {
    const std::string message = refusal("    acceptance_fit: " + file(name, text) + "\n");
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_THAT(message, HasSubstr("s.yaml:4: card.text.acceptance_fit: ")) << message;
    return message;
  };
  const auto with = [](std::string from, const std::string& to) {
    std::string text = kFit;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_THAT(refusal("    acceptance_fit: /nonexistent.yaml\n"), HasSubstr("/nonexistent.yaml"));
  EXPECT_THAT(of("foreign.yaml", "title: something else\n"), HasSubstr("format: is missing"));
  EXPECT_THAT(of("empty.yaml", " \n"), HasSubstr("format"));
  EXPECT_THAT(of("binary.yaml", std::string("SQLite format 3\0\x10\0\x01", 20)), HasSubstr("binary.yaml"));
  EXPECT_THAT(of("version.yaml", with("format: 1", "format: 2")), HasSubstr("format"));
  EXPECT_THAT(of("list.yaml", with("[[10000, 9000, 0.9], [9000", "[[10000, 9000, 0.9], [many")),
              AllOf(HasSubstr("list.yaml:6"), HasSubstr("whole number")));
  EXPECT_THAT(of("more.yaml", with("[[10000, 9000", "[[10000, 10001")), HasSubstr("more was accepted"));
  EXPECT_THAT(of("none.yaml", "format: 1\nacceptance: []\n"), HasSubstr("no draft"));
  EXPECT_THAT(of("unjudged.yaml", with("[[10000, 9000, 0.9], [9000, 5400, 0.6], [5400, 2700, 0.5]]", "[]")),
              HasSubstr("no verdict"));
  EXPECT_THAT(of("falling.yaml", with("from_tokens: 64", "from_tokens: 0")), HasSubstr("must rise"));
  EXPECT_THAT(of("yaml.yaml", "format: [1\n"), HasSubstr("dm-simcard fit"));
}

TEST(FittedAcceptance, StatedKeysBesideAFitAreRefused) {
  const std::string fit = "    acceptance_fit: " + file("beside.yaml", kFit) + "\n";
  EXPECT_THAT(refusal(fit + "    miss_at_1b: 0.2\n"), HasSubstr("s.yaml:5: card.text.miss_at_1b"));
  EXPECT_THAT(refusal("    fit_draft_billions: 2\n"), HasSubstr("without acceptance_fit"));
  EXPECT_THAT(refusal(fit + "    fit_draft_billions: 0\n"), HasSubstr("fit_draft_billions"));
}

}  // namespace
}  // namespace dmprof::simcard
