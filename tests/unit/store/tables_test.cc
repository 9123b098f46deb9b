#include <gmock/gmock.h>

#include <limits>

#include "dmprof/event/loss.h"
#include "dmprof/store/annotations.h"
#include "tests/unit/store/support.h"

namespace dmprof {
namespace {

using test::Folder;

TEST(Tables, return_what_the_sink_was_told) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path);
  ASSERT_TRUE(
      writer->add_clock_sync({.domain = 1, .domain_time = 10, .monotonic = 11, .realtime = 12, .uncertainty = 3}));
  ASSERT_TRUE(writer->set_environment("cpu", "a fast one"));
  ASSERT_TRUE(writer->set_environment("cpu", "a faster one"));
  ASSERT_TRUE(writer->finish());

  auto reader = Reader::open(path);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->processes().value().at(0).command, "engine --fast");
  EXPECT_EQ(reader->clocks().value().at(0).quality, "CLOCK_MONOTONIC");
  EXPECT_EQ(reader->tracks().value().at(1).name, "prefetch");
  EXPECT_EQ(reader->tracks().value().at(1).id, 2U);
  EXPECT_EQ(reader->clock_syncs().value().at(0).uncertainty, 3);
  ASSERT_EQ(reader->environment().value().size(), 1U);
  EXPECT_EQ(reader->environment().value().at(0).value, "a faster one");
  EXPECT_THAT(reader->names().value(), testing::ElementsAre("", "draft", "verify"));
  EXPECT_EQ(reader->find_name("verify"), 2U);
  EXPECT_EQ(reader->find_name("never said"), 0U);
  EXPECT_EQ(reader->name(99), "?");
  EXPECT_EQ(reader->run().value().format_version, 2);
}

TEST(Tables, keep_every_change_of_a_knob_in_order) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path);
  Knob knob{.process = 1,
            .name = "lookahead",
            .value = "4",
            .type = "integer",
            .range = "1..16",
            .how = "environment",
            .handle = "DM_LOOKAHEAD",
            .unit = ""};
  ASSERT_TRUE(writer->add_knob(knob));
  knob.value = "8";
  knob.since = 500;
  ASSERT_TRUE(writer->add_knob(knob));
  ASSERT_TRUE(writer->finish());
  const auto knobs = Reader::open(path)->knobs().value();
  ASSERT_EQ(knobs.size(), 2U);
  EXPECT_EQ(knobs[0].value, "4");
  EXPECT_EQ(knobs[1].value, "8");
  EXPECT_EQ(knobs[1].handle, "DM_LOOKAHEAD");
}

TEST(Tables, update_a_capacity_that_was_named_before) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path);
  Capacity dram{
      .process = 1, .name = "dram", .kind = "tier", .managed = true, .size_bytes = 8 << 20, .measured_bandwidth = 12e9};
  dram.datasheet_bandwidth = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(writer->add_capacity(dram).value(), 1U);
  ASSERT_TRUE(writer->finish());
  const auto capacities = Reader::open(path)->capacities().value();
  ASSERT_EQ(capacities.size(), 2U);
  EXPECT_EQ(capacities[0].measured_bandwidth, 12e9);
  EXPECT_TRUE(capacities[0].managed);
  EXPECT_EQ(capacities[0].datasheet_bandwidth, 0) << "not a number is unknown";
}

TEST(Balance, is_zero_when_recorded_and_lost_make_up_what_was_emitted) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path, {.chunk_rows = 16});
  std::vector<Event> events;
  for (int i = 0; i < 100; ++i) events.emplace_back(Instant{.track = 1, .time = i, .name = 1});
  events.emplace_back(Counter{.track = 2, .time = 3, .name = 2, .value = 1});
  ASSERT_TRUE(writer->accept(events));
  ASSERT_TRUE(writer->add_emitted(1, 60));
  ASSERT_TRUE(writer->add_emitted(1, 70));
  ASSERT_TRUE(writer->add_loss({.track = 1, .cause = std::string(loss::ring_full), .events = 20}));
  ASSERT_TRUE(writer->add_loss({.track = 1, .cause = std::string(loss::ring_full), .events = 5}));
  ASSERT_TRUE(writer->add_loss({.track = 1, .cause = std::string(loss::decode_error), .events = 5}));
  ASSERT_TRUE(writer->finish());

  auto reader = Reader::open(path);
  const auto balance = reader->balance().value();
  ASSERT_EQ(balance.size(), 2U);
  EXPECT_EQ(balance[0].emitted, 130U);
  EXPECT_EQ(balance[0].lost, 30U);
  EXPECT_EQ(balance[0].recorded, 100U);
  EXPECT_EQ(balance[0].unaccounted(), 0);
  EXPECT_EQ(balance[1].recorded, 1U);
  EXPECT_EQ(balance[1].unaccounted(), std::nullopt) << "nobody said what was emitted";
  const auto losses = reader->losses().value();
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[1].events, 25U);
}

TEST(Balance, shows_events_that_nobody_accounted_for) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path);
  const Event event = Instant{.track = 1};
  ASSERT_TRUE(writer->accept({&event, 1}));
  ASSERT_TRUE(writer->add_emitted(1, 4));
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(Reader::open(path)->balance().value().at(0).unaccounted(), 3);
}

TEST(Names, survive_bytes_that_are_no_text) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path);
  EXPECT_EQ(writer->intern(""), 0U);
  EXPECT_EQ(writer->intern("draft"), 1U);
  EXPECT_EQ(writer->intern(std::string_view("a\xFF\0b\xC3", 5)), 3U);
  EXPECT_EQ(writer->intern("\xE7\xAB\xA0"), 4U);
  ASSERT_TRUE(writer->finish());
  EXPECT_THAT(Reader::open(path)->names().value(),
              testing::ElementsAre("", "draft", "verify", "a??b?", "\xE7\xAB\xA0"));
}

TEST(Annotations, add_metrics_and_findings_to_a_finished_recording) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  test::record_slices(path, 100);
  {
    auto notes = Annotations::open(path);
    ASSERT_TRUE(notes) << notes.error().message;
    const StoredMetric first[] = {{"throughput", "v1", "{\"value\":1}"}, {"tpot", "v1", "{}"}};
    ASSERT_TRUE(notes->store_metrics(first));
    const StoredMetric second[] = {{"throughput", "v2", "{\"value\":2}"}};
    ASSERT_TRUE(notes->store_metrics(second));
    const StoredFinding findings[] = {{"rule-a", "warning", "{}"}};
    ASSERT_TRUE(notes->replace_findings(findings));
    ASSERT_TRUE(notes->replace_findings(findings));
    ASSERT_TRUE(notes->set_environment("calibrated", "yes"));
  }
  auto reader = Reader::open(path);
  const auto metrics = reader->metrics().value();
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].definition, "v2");
  EXPECT_EQ(metrics[0].json, "{\"value\":2}");
  EXPECT_EQ(reader->findings().value().size(), 1U);
  EXPECT_EQ(reader->count<Slice>().value(), 100U);
  EXPECT_EQ(reader->environment().value().size(), 1U);
}

TEST(Annotations, wait_for_the_recorder_to_end) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path);
  ASSERT_TRUE(writer->sync());
  const auto notes = Annotations::open(path);
  ASSERT_FALSE(notes);
  EXPECT_EQ(notes.error().kind, ErrorKind::environment);
  EXPECT_THAT(notes.error().message, testing::HasSubstr("still being recorded"));
}

}  // namespace
}  // namespace dmprof
