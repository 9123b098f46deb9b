#include "dmprof/decode/decoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace dmprof::decode {
namespace {

class DecoderTest : public testing::Test {
 protected:
  DecoderTest() {
    for (const NameId id : {101u, 102u, 103u}) decoder.add_name(id);
    decoder.set_tier(1, 7);
    decoder.set_tier(2, 8);
    decoder.bind(0, 42, clock);
  }
  static dmprof_slot slot(std::uint8_t kind, std::uint64_t time, std::uint32_t name = 0, std::uint8_t code = 0, std::uint64_t a = 0,
                          std::uint64_t b = 0) {
    return {{time, name, 0, kind, code}, a, b};
  }
  static dmprof_slot begin(std::uint64_t time, std::uint32_t name, std::uint8_t level) { return slot(DMPROF_KIND_BEGIN, time, name, level); }
  static dmprof_slot end(std::uint64_t time, std::uint8_t level) { return slot(DMPROF_KIND_END, time, 0, level); }
  static dmprof_slot phase(std::uint64_t time, std::uint32_t name, std::uint8_t level) { return slot(DMPROF_KIND_PHASE, time, name, level); }

  template <class Wire>
  static std::vector<dmprof_slot> slots_of_wire(const Wire& wire) {
    std::vector<dmprof_slot> slots(sizeof wire / sizeof(dmprof_slot));
    std::memcpy(slots.data(), &wire, sizeof wire);
    return slots;
  }
  std::vector<Event> decode(const std::vector<dmprof_slot>& slots) {
    std::vector<Event> events;
    EXPECT_EQ(decoder.decode(slots, true, events), slots.size());
    return events;
  }
  std::vector<Slice> slices(const std::vector<dmprof_slot>& slots) {
    std::vector<Slice> result;
    for (const Event& event : decode(slots)) result.push_back(std::get<Slice>(event));
    return result;
  }

  ClockMap clock;
  Decoder decoder;
};

TEST_F(DecoderTest, pairs_nested_spans_and_tells_their_depth) {
  const auto s = slices({begin(10, 1, 0), begin(20, 2, 1), end(30, 1), end(50, 0)});
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s[0].name, 102u);
  EXPECT_EQ(s[0].start, 20);
  EXPECT_EQ(s[0].duration, 10);
  EXPECT_EQ(s[0].depth, 1u);
  EXPECT_EQ(s[1].name, 101u);
  EXPECT_EQ(s[1].track, 42u);
  EXPECT_EQ(s[1].duration, 40);
  EXPECT_EQ(s[1].depth, 0u);
}

TEST_F(DecoderTest, closes_one_phase_and_opens_the_next_at_the_same_stamp) {
  const auto s = slices({begin(0, 1, 0), phase(0, 2, 1), phase(5, 3, 1), end(9, 0)});
  ASSERT_EQ(s.size(), 3u);
  EXPECT_EQ(s[0].start + s[0].duration, s[1].start);
  EXPECT_EQ(s[0].depth, 1u);
  EXPECT_EQ(s[1].duration, 4);  // the span's end closed the last phase
  EXPECT_EQ(s[2].depth, 0u);
  EXPECT_EQ(decoder.unbind(0).unfinished, 0u);
}

TEST_F(DecoderTest, nests_a_span_inside_an_open_phase) {
  const auto s = slices({phase(0, 1, 0), begin(2, 2, 0), end(4, 0), phase(6, 0, 0)});
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s[0].depth, 1u);
  EXPECT_EQ(s[1].depth, 0u);
  EXPECT_EQ(s[1].duration, 6);
}

TEST_F(DecoderTest, counts_spans_that_never_ended_as_unfinished) {
  decode({begin(1, 1, 0), phase(2, 2, 1), slot(DMPROF_KIND_INSTANT, 3, 3)});
  const TrackCounts counts = decoder.unbind(0);
  EXPECT_EQ(counts.decoded, 1u);
  EXPECT_EQ(counts.unfinished, 2u);
  EXPECT_EQ(counts.malformed, 0u);
}

TEST_F(DecoderTest, counts_an_end_without_its_begin_and_goes_on) {
  const auto events = decode({end(1, 0), end(1, 200), phase(2, 0, 0), slot(DMPROF_KIND_INSTANT, 3, 3)});
  EXPECT_EQ(events.size(), 1u);
  EXPECT_EQ(decoder.counts(0).malformed, 3u);
}

TEST_F(DecoderTest, gives_a_slice_that_ends_before_it_began_no_length) {
  const auto s = slices({begin(10, 1, 0), end(7, 0)});
  ASSERT_EQ(s.size(), 1u);
  EXPECT_EQ(s[0].duration, 0);
}

TEST_F(DecoderTest, translates_names_and_tiers_and_takes_unknown_ones_for_none) {
  dmprof_wire_transfer wire{};
  wire.head = {5, 1, 0, DMPROF_KIND_TRANSFER, 0};
  wire.duration = 10;
  wire.bytes = 64;
  wire.useful_bytes = 64;
  wire.to = 99;
  const auto events = decode(slots_of_wire(wire));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<Transfer>(events[0]).from, 7u);
  EXPECT_EQ(std::get<Transfer>(events[0]).to, 0u);
  EXPECT_EQ(std::get<Instant>(decode({slot(DMPROF_KIND_INSTANT, 1, 4000)})[0]).name, 0u);
}

TEST_F(DecoderTest, keeps_every_field_of_a_speculation_step) {
  dmprof_wire_speculation wire{};
  wire.head = {900, 17, 0, DMPROF_KIND_SPECULATION, 4};
  wire.step = 3, wire.request = 4, wire.path = 0x321, wire.draft_time = 10, wire.verify_time = 20, wire.accept_time = 5;
  wire.drafted = 8, wire.verified = 6, wire.accepted = 3, wire.emitted = 4, wire.tree_depth = 3, wire.tree_nodes = 6, wire.cut = 2;
  const auto step = std::get<SpeculationStep>(decode(slots_of_wire(wire)).at(0));
  EXPECT_EQ(step.position, 17u);
  EXPECT_EQ(step.draft_type, DraftType::tree);
  EXPECT_EQ(step.cut, StepCut::max_tokens);
  EXPECT_EQ(step.path, 0x321u);
  EXPECT_EQ(step.tree_depth, 3u);
  EXPECT_EQ(step.tree_nodes, 6u);
  EXPECT_EQ(step.emitted, 4u);
  EXPECT_EQ(step.verify_time, 20);
}

TEST_F(DecoderTest, refuses_fields_that_contradict_each_other) {
  dmprof_wire_speculation accepted_too_much{};
  accepted_too_much.head = {1, 0, 0, DMPROF_KIND_SPECULATION, 1};
  accepted_too_much.drafted = 4, accepted_too_much.verified = 4, accepted_too_much.accepted = 5;
  dmprof_wire_transfer useful_too_much{};
  useful_too_much.head = {1, 0, 0, DMPROF_KIND_TRANSFER, 0};
  useful_too_much.bytes = 1, useful_too_much.useful_bytes = 2;
  dmprof_wire_step stages_too_long{};
  stages_too_long.head = {1, 1, 0, DMPROF_KIND_STEP, 2};
  stages_too_long.duration = 10, stages_too_long.draft_time = 6, stages_too_long.verify_time = 6;
  EXPECT_TRUE(decode(slots_of_wire(accepted_too_much)).empty());
  EXPECT_TRUE(decode(slots_of_wire(useful_too_much)).empty());
  EXPECT_TRUE(decode(slots_of_wire(stages_too_long)).empty());
  EXPECT_EQ(decoder.counts(0).contradictory, 3u);
}

TEST_F(DecoderTest, refuses_codes_that_do_not_exist) {
  dmprof_wire_request request{};
  request.head = {1, 0, 0, DMPROF_KIND_REQUEST, 77};
  EXPECT_TRUE(decode(slots_of_wire(request)).empty());
  EXPECT_TRUE(decode({slot(0, 1), slot(14, 1), slot(255, 1)}).empty());
  EXPECT_EQ(decoder.counts(0).malformed, 4u);
}

TEST_F(DecoderTest, waits_for_the_rest_of_an_event_unless_it_is_the_last) {
  dmprof_wire_step wire{};
  wire.head = {1, 1, 0, DMPROF_KIND_STEP, 2};
  auto slots = slots_of_wire(wire);
  slots.pop_back();
  std::vector<Event> events;
  EXPECT_EQ(decoder.decode(slots, false, events), 0u);
  EXPECT_EQ(decoder.decode(slots, true, events), 2u);
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(decoder.counts(0).malformed, 1u);
}

TEST_F(DecoderTest, counts_events_of_tracks_that_nobody_announced) {
  dmprof_slot stray = slot(DMPROF_KIND_INSTANT, 1, 1);
  stray.head.track = 4095;
  EXPECT_TRUE(decode({stray}).empty());
  EXPECT_EQ(decoder.strays(), 1u);
}

TEST_F(DecoderTest, survives_any_bytes) {
  std::mt19937_64 random(1);
  std::vector<dmprof_slot> slots(512);
  for (int round = 0; round < 200; ++round) {
    for (dmprof_slot& s : slots) {
      std::uint64_t words[4] = {random(), random(), random(), random()};
      std::memcpy(&s, words, sizeof s);
      s.head.track = static_cast<std::uint16_t>(s.head.track % 2);
      s.head.kind %= 16;
      if (round % 2 == 0) s.head.code %= 70;
    }
    std::vector<Event> events;
    EXPECT_EQ(decoder.decode(slots, true, events), slots.size());
    EXPECT_LE(events.size(), 3 * slots.size());
  }
}

}  // namespace
}  // namespace dmprof::decode
