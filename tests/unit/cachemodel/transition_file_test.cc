#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <sstream>

#include "dmprof/cachemodel/transition.h"

namespace dmprof::cachemodel {
namespace {

using testing::HasSubstr;

TransitionMatrix learned(unsigned order) {
  TransitionMatrix matrix({.order = order});
  std::mt19937 random(4);
  for (int i = 0; i < 800; ++i) matrix.observe(random() % 40);
  return matrix;
}

std::string text_of(const TransitionMatrix& matrix) {
  std::ostringstream out;
  matrix.write(out);
  return out.str();
}

Result<TransitionMatrix> parse(const std::string& text, TransitionOptions options = {}) {
  std::istringstream in(text);
  return TransitionMatrix::parse(in, "matrix.txt", options);
}

std::string refusal(const std::string& text, TransitionOptions options = {}) {
  const auto result = parse(text, options);
  if (result) return "accepted";
  EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  return result.error().message;
}

TEST(TransitionFile, comes_back_as_it_was_saved) {
  const auto folder = std::filesystem::path(testing::TempDir());
  for (const unsigned order : {1u, 2u}) {
    const TransitionMatrix saved = learned(order);
    const std::string path = (folder / ("matrix_" + std::to_string(order))).string();
    ASSERT_TRUE(saved.save(path));
    const auto loaded = TransitionMatrix::load(path, {.order = order});
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(text_of(*loaded), text_of(saved));
    EXPECT_EQ(loaded->rows(), saved.rows());
    EXPECT_DOUBLE_EQ(loaded->probability(3, 4), saved.probability(3, 4));
    EXPECT_FALSE(loaded->position());
    std::filesystem::remove(path);
  }
}

TEST(TransitionFile, an_empty_matrix_is_a_valid_file) {
  const auto loaded = parse(text_of(TransitionMatrix()));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->rows(), 0u);
}

TEST(TransitionFile, says_what_is_wrong_with_a_foreign_or_damaged_file) {
  EXPECT_THAT(refusal(""), HasSubstr("not a transition matrix"));
  EXPECT_THAT(refusal("hello\n"), HasSubstr("not a transition matrix"));
  EXPECT_THAT(refusal("dmprof-transitions 2 1\nend\n"), HasSubstr("version 2"));
  EXPECT_THAT(refusal("dmprof-transitions 1 2\nend\n"), HasSubstr("order 2"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1 7\nend\n"), HasSubstr("damaged header"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 2 3\n"), HasSubstr("cut short"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 2\nend\n"), HasSubstr("matrix.txt:2: not of the form"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 2 3 4\nend\n"), HasSubstr("not of the form"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 2 -3\nend\n"), HasSubstr("not of the form"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 99999999999999999999999 3\nend\n"), HasSubstr("not of the form"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n5 1 2 3\nend\n"), HasSubstr("order 1"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\nx 1 2 3\nend\n"), HasSubstr("neither a block"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 2 0\nend\n"), HasSubstr("a count must be"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 2 4294967295\nend\n"), HasSubstr("a count must be"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 2 4000\n- 1 3 4000\nend\n"), HasSubstr("add up"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n- 1 2 3\n- 1 2 3\nend\n"), HasSubstr("twice"));
  EXPECT_THAT(refusal("dmprof-transitions 1 1\n" + std::string(100000, '1')), HasSubstr("cut short or damaged"));
}

TEST(TransitionFile, does_not_grow_beyond_the_readers_bounds) {
  std::string many = "dmprof-transitions 1 1\n";
  for (int i = 0; i < 50; ++i) many += "- " + std::to_string(i) + " 1 1\n";
  EXPECT_THAT(refusal(many + "end\n", {.max_rows = 10}), HasSubstr("more than 10 rows"));
  std::string wide = "dmprof-transitions 1 1\n";
  for (int i = 0; i < 50; ++i) wide += "- 1 " + std::to_string(i) + " 1\n";
  EXPECT_THAT(refusal(wide + "end\n"), HasSubstr("more than 32 successors"));
}

TEST(TransitionFile, survives_every_truncation_and_random_damage) {
  const std::string good = text_of(learned(2));
  for (std::size_t length = 0; length + 4 < good.size(); length += 37) {
    EXPECT_NE(refusal(good.substr(0, length), {.order = 2}), "accepted");
  }
  std::mt19937 random(8);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = good;
    for (int k = 0; k < 5; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    (void)parse(damaged, {.order = 2});
  }
}

TEST(TransitionFile, names_the_path_that_cannot_be_used) {
  for (const std::string path : {"/nonexistent/matrix", "/"}) {
    const auto loaded = TransitionMatrix::load(path);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().kind, ErrorKind::environment);
    EXPECT_THAT(loaded.error().message, HasSubstr(path));
    EXPECT_FALSE(TransitionMatrix().save(path));
  }
}

TEST(TransitionFile, reports_a_full_disk) {
  const Status saved = learned(2).save("/dev/full");
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr("No space left"));
}

}  // namespace
}  // namespace dmprof::cachemodel
