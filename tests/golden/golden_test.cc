// Small recordings whose every event is written here, and the metrics they must give, kept as text a person can check
// by hand. A wanted change: run with UPDATE_GOLDEN=1 and read the difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analyzers/all/register_all.h"
#include "analyzers/registry/load.h"
#include "dmprof/report/metric_text.h"
#include "dmprof/store/reader.h"
#include "dmprof/store/writer.h"

namespace dmprof {
namespace {

namespace fs = std::filesystem;

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "golden-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    auto writer = Writer::create(path());
    ASSERT_TRUE(writer) << writer.error().message;
    sink_ = std::move(*writer);
    process_ = sink_->add_process({100, 1, "engine", "engine"}).value();
    const auto clock = sink_->add_clock({"host", ClockKind::monotonic, "test"}).value();
    track_ = sink_->add_track({process_, 100, clock, "main"}).value();
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path() const { return (folder_ / "golden.dmprof").string(); }

  // Step `number` of one request takes 10 ms: 2 ms drafting `drafted` tokens, 7 ms verifying them, 1 ms accepting
  // `accepted`.
  void decode_step(std::uint64_t number, std::uint32_t drafted, std::uint32_t accepted) {
    constexpr TimeNs ms = 1'000'000;
    const TimeNs start = static_cast<TimeNs>(number) * 10 * ms;
    events_.push_back(Step{.track = track_,
                           .start = start,
                           .duration = 10 * ms,
                           .step = number,
                           .batch = 1,
                           .target_tokens = drafted + 1,
                           .draft_time = 2 * ms,
                           .verify_time = 7 * ms,
                           .accept_time = 1 * ms});
    SpeculationStep speculation;
    speculation.track = track_;
    speculation.time = start + 10 * ms;
    speculation.step = number;
    speculation.request = 1;
    speculation.position = position_;
    speculation.drafted = speculation.verified = drafted;
    speculation.accepted = accepted;
    speculation.emitted = accepted + 1;
    speculation.draft_type = drafted > 0 ? DraftType::model : DraftType::none;
    speculation.tree_depth = speculation.tree_nodes = drafted;
    speculation.draft_time = 2 * ms;
    speculation.verify_time = 7 * ms;
    speculation.accept_time = 1 * ms;
    events_.push_back(speculation);
    position_ += accepted + 1;
  }

  void request(TimeNs time, RequestPoint point, std::uint64_t tokens) {
    events_.push_back(RequestEvent{.track = track_, .time = time, .request = 1, .point = point, .tokens = tokens});
  }

  std::string answer(const std::vector<std::string>& names) {
    EXPECT_TRUE(sink_->accept(events_));
    EXPECT_TRUE(sink_->add_emitted(track_, events_.size()));
    EXPECT_TRUE(sink_->finish());
    auto reader = Reader::open(path());
    EXPECT_TRUE(reader);
    const Catalogue catalogue = full_catalogue();
    auto recording = load_recording(*reader, catalogue.events(names));
    EXPECT_TRUE(recording);
    auto values = catalogue.evaluate(names, *recording);
    EXPECT_TRUE(values);
    return report::metrics_text(*values, false, report::Style(false));
  }

  static void compare(const std::string& name, const std::string& text) {
    const char* source = std::getenv("DMPROF_SOURCE_DIR");
    ASSERT_NE(source, nullptr) << "set DMPROF_SOURCE_DIR to the checkout";
    const fs::path file = fs::path(source) / "tests/golden" / (name + ".txt");
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file) << text;
    std::ostringstream expected;
    expected << std::ifstream(file).rdbuf();
    EXPECT_EQ(text, expected.str()) << file;
  }

  fs::path folder_;
  std::unique_ptr<Writer> sink_;
  std::uint32_t process_ = 0;
  TrackId track_ = 0;
  std::vector<Event> events_;
  std::uint32_t position_ = 4;
};

TEST_F(Golden, one_request_whose_drafts_are_accepted_by_halves) {
  request(10'000'000, RequestPoint::arrive, 4);
  request(10'000'000, RequestPoint::schedule, 0);
  request(20'000'000, RequestPoint::first_token, 0);
  // 40 steps of 4 drafted tokens, 4 and 0 accepted in turn: half of the verified drafts, 3 tokens a step, .3 tokens a
  // ms.
  for (std::uint64_t step = 1; step <= 40; ++step) decode_step(step, 4, step % 2 == 0 ? 0 : 4);
  request(410'000'000, RequestPoint::end, 120);
  compare("half_accepted", answer({"speculation_accuracy", "acceptance_length", "tokens_per_step", "draft_coverage",
                                   "draft_length", "step_time", "e2e_latency", "events_lost"}));
}

TEST_F(Golden, a_managed_tier_where_one_access_in_four_misses) {
  const TierId cache =
      sink_
          ->add_capacity({.process = process_, .name = "resident", .kind = "tier", .managed = true, .size_bytes = 4096})
          .value();
  for (std::uint64_t step = 1; step <= 40; ++step) decode_step(step, 4, 4);
  for (std::uint64_t access = 0; access < 400; ++access) {
    BlockAccess event;
    event.track = track_;
    event.time = 10'000'000 + static_cast<TimeNs>(access) * 1'000'000;
    event.step = 1 + access / 10;
    event.block = access % 8;
    event.tier = cache;
    event.outcome = access % 4 == 0 ? AccessOutcome::miss : AccessOutcome::hit;
    event.origin = access % 4 == 0   ? BlockOrigin::demand
                   : access % 4 == 1 ? BlockOrigin::prefetched
                                     : BlockOrigin::resident;
    event.phase = Phase::decode;
    event.bytes = 64;
    event.wait = access % 4 == 0 ? 1000 : 0;
    events_.push_back(event);
  }
  compare("one_miss_in_four", answer({"prefetch_hit_rate", "prefetch_coverage"}));
}

TEST_F(Golden, a_recording_without_speculation_answers_unavailable_not_zero) {
  events_.push_back(Slice{.track = track_, .start = 1, .duration = 2, .name = sink_->intern("work")});
  compare("no_speculation",
          answer({"speculation_accuracy", "prefetch_hit_rate", "ttft", "time_budget", "events_lost"}));
}

}  // namespace
}  // namespace dmprof
