#include "dmprof/cli/evaluation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "dmprof/store/writer.h"
#include "tests/unit/store/support.h"

namespace dmprof::cli {
namespace {

class EvaluationOfARecording : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "evaluation-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `processes` engines, the first of which ran most steps.
  std::string record(int processes) {
    const std::string path = (folder_ / "run.dmprof").string();
    auto writer = Writer::create(path, {});
    EXPECT_TRUE(writer);
    std::vector<Event> events;
    std::uint64_t id = 0;
    for (int process = 0; process < processes; ++process) {
      Process info;
      info.pid = 100 + process, info.name = "engine";
      const auto process_id = (*writer)->add_process(info);
      Track track;
      track.process = *process_id;
      const auto track_id = (*writer)->add_track(track);
      for (int i = 0; i < 20 / (process + 1); ++i) {
        Step step;
        step.track = *track_id, step.start = 1000 * (i + 1), step.duration = 900, step.step = ++id, step.batch = 1;
        events.emplace_back(step);
        SpeculationStep row;
        row.track = *track_id, row.time = step.start + 900, row.step = id, row.request = 1,
        row.drafted = row.verified = 4;
        row.accepted = 2, row.emitted = 3, row.draft_type = DraftType::model;
        events.emplace_back(row);
      }
    }
    EXPECT_TRUE((*writer)->accept(events));
    EXPECT_TRUE((*writer)->finish());
    return path;
  }

  std::filesystem::path folder_;
};

Evaluation asked(const std::string& path) {
  const std::vector<std::string> names = {"speculation_accuracy"};
  auto reader = Reader::open(path);
  EXPECT_TRUE(reader);
  auto evaluation = evaluate(*reader, names, {});
  EXPECT_TRUE(evaluation) << evaluation.error().message;
  return evaluation ? *evaluation : Evaluation{};
}

TEST_F(EvaluationOfARecording, says_which_process_it_is_about_whether_computed_or_stored) {
  const std::string path = record(2);
  const Evaluation computed = asked(path);
  EXPECT_NE(computed.note.find("process 100"), std::string::npos) << computed.note;
  ASSERT_TRUE(evaluate_and_store(path));
  const Evaluation stored = asked(path);
  EXPECT_EQ(stored.note, computed.note);
  EXPECT_EQ(*stored.values.at(0).value, *computed.values.at(0).value);
}

TEST_F(EvaluationOfARecording, of_one_process_has_nothing_to_note) {
  const std::string path = record(1);
  ASSERT_TRUE(evaluate_and_store(path));
  EXPECT_EQ(asked(path).note, "");
}

TEST_F(EvaluationOfARecording, answers_from_what_is_stored_only_while_the_data_are_those_it_was_computed_from) {
  const std::string path = record(1), kept = (folder_ / "kept.dmprof").string();
  const double computed = *asked(path).values.at(0).value;
  ASSERT_TRUE(evaluate_and_store(path));
  // A stored value that nobody would compute shows which of the two is the answer.
  test::tamper(path, "UPDATE metric SET json = replace(json, '\"value\":0.5', '\"value\":0.125')");
  std::filesystem::copy_file(path, kept);
  ASSERT_EQ(*asked(path).values.at(0).value, .125);
  ASSERT_EQ(computed, .5);
  for (const char* change :
       {"INSERT INTO chunk SELECT id + 100, 3, rows, min_time, max_time, columns FROM chunk WHERE kind = 5",
        "UPDATE chunk SET max_time = max_time + 1", "INSERT INTO column_data VALUES (99999, x'00')",
        "UPDATE column_data SET data = data || x'00' WHERE id = (SELECT max(id) FROM column_data WHERE id < 128)",
        "INSERT INTO loss VALUES (1, 'ring_full', 3)", "INSERT OR REPLACE INTO emitted VALUES (1, 12345)",
        "UPDATE run SET finished = finished + 1", "INSERT INTO environment VALUES ('cpu.new', 'x')",
        "INSERT INTO capacity VALUES (9, 1, 'x', 'tier', 0, 0, 1, 2, 3, 4, 5)",
        "UPDATE metric SET definition = substr(definition, 1, 16)"}) {
    std::filesystem::copy_file(kept, path, std::filesystem::copy_options::overwrite_existing);
    test::tamper(path, change);
    const std::vector<std::string> names = {"speculation_accuracy"};
    auto reader = Reader::open(path);
    ASSERT_TRUE(reader);
    const auto evaluation = evaluate(*reader, names, {});
    if (!evaluation) continue;  // a column that was spoilt may also be noticed as such
    EXPECT_EQ(evaluation->values.at(0).value, computed) << change;
  }
}

TEST_F(EvaluationOfARecording, by_layer_is_unavailable_with_a_reason) {
  const std::string path = record(1);
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader);
  EvaluateOptions options;
  options.by = By::layer;
  const std::vector<std::string> names = {"speculation_accuracy", "prefetch_hit_rate"};
  const auto evaluation = evaluate(*reader, names, options);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_FALSE(evaluation->all_ok());
  for (const MetricValue& value : evaluation->values) {
    EXPECT_EQ(value.status, ValueStatus::unavailable);
    EXPECT_NE(value.reason.find("names a layer"), std::string::npos) << value.reason;
    EXPECT_TRUE(value.by.empty());
  }
}

}  // namespace
}  // namespace dmprof::cli
