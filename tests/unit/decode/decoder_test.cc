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
  static dmprof_slot slot(std::uint8_t kind, std::uint64_t time, std::uint32_t name = 0, std::uint8_t code = 0,
                          std::uint64_t a = 0, std::uint64_t b = 0) {
    return {{time, name, 0, kind, code}, a, b};
  }
  static dmprof_slot span(std::uint64_t start, std::uint64_t end, std::uint32_t name, std::uint8_t depth,
                          std::uint64_t step = 0) {
    return slot(DMPROF_KIND_SPAN, start, name, depth, step, end - start);
  }

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
  ClockMap clock;
  Decoder decoder;
};

TEST_F(DecoderTest, turns_a_span_into_a_slice) {
  const auto s = std::get<Slice>(decode({span(20, 30, 2, 5, 9)}).at(0));
  EXPECT_EQ(s.track, 42u);
  EXPECT_EQ(s.name, 102u);
  EXPECT_EQ(s.start, 20);
  EXPECT_EQ(s.duration, 10);
  EXPECT_EQ(s.depth, 5u);
  EXPECT_EQ(s.step, 9u);
}

TEST_F(DecoderTest, keeps_contiguous_phases_contiguous_through_the_conversion_of_their_times) {
  const ClockMap tsc(1'000, 7'000'000'000, 0.40897);
  decoder.bind(0, 42, tsc);
  std::uint64_t raw = 123'456'789;
  TimeNs end = tsc.time(raw);
  for (std::uint64_t length = 1; length < 2'000; length += 7) {
    const auto s = std::get<Slice>(decode({span(raw, raw + length, 1, 0)}).at(0));
    ASSERT_EQ(s.start, end);
    end = s.start + s.duration;
    raw += length;
  }
}

TEST_F(DecoderTest, refuses_a_span_that_ends_before_it_began) {
  EXPECT_TRUE(decode({span(10, 7, 1, 0)}).empty());
  EXPECT_EQ(decoder.unbind(0).malformed, 1u);
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
  wire.drafted = 8, wire.verified = 6, wire.accepted = 3, wire.emitted = 4, wire.tree_depth = 3, wire.tree_nodes = 6,
  wire.cut = 2;
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
