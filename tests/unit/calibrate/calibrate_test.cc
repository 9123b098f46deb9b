#include "dmprof/calibrate/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "dmprof/calibrate/kernels.h"

namespace dmprof::calibrate {
namespace {

namespace fs = std::filesystem;

class CalibrationFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "calibrate-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path file() const { return folder_ / "calibration.json"; }
  void write(const std::string& text) const { std::ofstream(file()) << text; }

  fs::path folder_;
};

Calibration sample() {
  Calibration calibration;
  calibration.cpu_model = "Test CPU \"quoted\"";
  calibration.instruction_set = "AVX2";
  calibration.measured_at = "2026-01-02T03:04:05Z";
  calibration.cache_bytes = 8 << 20;
  calibration.buffer_bytes = 64 << 20;
  calibration.points = {{1, 10e9, 50e9}, {2, 18e9, 95e9}};
  return calibration;
}

TEST(Kernels, reads_every_word_of_all_four_streams_exactly_once) {
  constexpr std::size_t bytes = streams_per_thread * stream_granule * 8;
  struct alignas(64) Line {
    std::uint64_t words[8];
  };
  std::vector<Line> lines(bytes / sizeof(Line));
  std::uint64_t expected = 0;
  std::uint64_t next = 1;
  for (Line& line : lines) {
    for (std::uint64_t& word : line.words) expected += word = next++;
  }
  EXPECT_EQ(read_once(reinterpret_cast<const std::uint8_t*>(lines.data()), bytes), expected);
}

TEST(Kernels, counts_two_operations_per_lane_and_keeps_its_values_finite) {
  float sink = 0;
  const std::uint64_t once = multiply_add(1000, sink);
  EXPECT_EQ(multiply_add(3000, sink), 3 * once);
  EXPECT_GT(once, 0u);
  EXPECT_TRUE(std::isfinite(sink));
  EXPECT_NE(sink, 0);
}

TEST(Measure, reports_positive_rates_for_each_number_of_threads_and_reads_past_the_cache) {
  Options options;
  options.cache_bytes = 1 << 20;
  options.least_buffer_bytes = 4 << 20;
  options.threads = 3;
  options.repeats = 1;
  std::vector<std::string> lines;
  const auto result = measure(options, [&](const std::string& line) { lines.push_back(line); });
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->points.size(), 3u);
  EXPECT_EQ(result->points[0].threads, 1u);
  EXPECT_EQ(result->points[1].threads, 2u);
  EXPECT_EQ(result->points[2].threads, 3u);
  for (const Point& point : result->points) {
    EXPECT_GT(point.read_bandwidth, 0);
    EXPECT_GT(point.flops, 0);
  }
  EXPECT_GE(result->buffer_bytes, 4 * options.cache_bytes);
  EXPECT_EQ(lines.size(), 3u);
}

TEST(Measure, refuses_when_the_buffer_would_take_more_than_a_quarter_of_the_memory) {
  Options options;
  options.cache_bytes = 64 << 20;
  options.memory_bytes = 512 << 20;
  const auto result = measure(options, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::environment);
}

TEST_F(CalibrationFile, comes_back_as_it_was_saved) {
  ASSERT_TRUE(save(sample(), file()));
  const auto loaded = load(file());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->cpu_model, sample().cpu_model);
  ASSERT_EQ(loaded->points.size(), 2u);
  EXPECT_DOUBLE_EQ(loaded->best_read_bandwidth(), 18e9);
  EXPECT_DOUBLE_EQ(loaded->best_flops(), 95e9);
}

TEST_F(CalibrationFile, says_how_to_make_one_when_there_is_none) {
  const auto loaded = load(file());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::cannot_answer);
  EXPECT_NE(loaded.error().message.find("dmprof calibrate"), std::string::npos);
}

TEST_F(CalibrationFile, refuses_damaged_newer_and_nonsensical_files) {
  for (
      const char* text :
      {"", "{", "[]", "null", "{\"version\":2}", "{\"version\":\"1\"}",
       R"({"version":1,"cpu_model":"x","instruction_set":"y","measured_at":"z","cache_bytes":1,"buffer_bytes":2,"points":[]})",
       R"({"version":1,"cpu_model":"x","instruction_set":"y","measured_at":"z","cache_bytes":1,"buffer_bytes":2,"points":[{"threads":1,"read_bandwidth":0,"flops":1}]})",
       R"({"version":1,"cpu_model":"x","instruction_set":"y","measured_at":"z","cache_bytes":-1,"buffer_bytes":2,"points":[{"threads":1,"read_bandwidth":1,"flops":1}]})"}) {
    write(text);
    const auto loaded = load(file());
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().kind, ErrorKind::bad_input) << text;
  }
}

TEST_F(CalibrationFile, that_cannot_be_written_is_an_error_and_leaves_nothing_behind) {
  const auto saved = save(sample(), folder_ / "missing" / "calibration.json");
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::environment);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace dmprof::calibrate
