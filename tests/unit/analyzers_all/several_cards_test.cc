// Cards that work side by side in one process: shares are those of a card, rates are sums.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "analyzers/all/register_all.h"
#include "tests/unit/registry/traces.h"

namespace dmprof {
namespace {

using test::ms;
using test::Trace;

const Catalogue& catalogue() {
  static const Catalogue all = full_catalogue();
  return all;
}

MetricValue metric(const Recording& recording, const std::string& name) {
  return test::value_of(catalogue(), recording, name);
}

// A card with two engines that prefills for 30 ms and then takes `steps` steps with three requests.
Recording card(int steps = 20) {
  Trace trace;
  Recording& r = trace.recording;
  r.tracks[1].name = "compute", r.tracks[2].name = "prefetch", r.tracks[3].name = "engine";
  const TierId l1 = trace.tier("l1", 1, true, 2e9, 4000), l2 = trace.tier("l2", 2, false, 1e9, 1 << 20);
  r.capacities[l1].units = 1;
  Capacity engines, compute;
  engines.kind = "speculation_engine", engines.units = 2, compute.kind = "compute", compute.peak_flops = 1e12;
  r.capacities[8] = engines, r.capacities[9] = compute;
  r.names[1] = "draft_job", r.names[2] = "candidate_generation", r.names[3] = "verification", r.names[4] = "layer";
  Knob policy;
  policy.name = "cache_policy", policy.value = "0";
  r.knobs.push_back(policy);
  const auto slice = [&](TrackId track, NameId name, TimeNs start, TimeNs length, std::uint64_t step,
                         std::uint64_t argument) {
    Slice each;
    each.track = track, each.name = name, each.start = start, each.duration = length, each.step = step,
    each.argument = argument;
    r.slices.push_back(each);
  };
  for (std::uint64_t id = 1; id <= 3; ++id) {
    trace.request(id, RequestPoint::arrive, 0, 8);
    trace.request(id, RequestPoint::schedule, 0);
    trace.request(id, RequestPoint::first_token, 30 * ms);
  }
  trace.step({.duration = 30 * ms, .phase = Phase::prefill, .requests = {1, 2, 3}});
  for (int i = 0; i < steps; ++i) {
    const TimeNs begin = trace.now, verify = begin + 8 * ms;
    for (std::uint64_t id = 1; id <= 3; ++id) slice(3, 1, begin + (id == 3 ? 4 : 0) * ms, 4 * ms, 0, id);
    const std::uint64_t step = trace.steps + 1;
    slice(1, 2, begin, 8 * ms, step, 0);
    slice(1, 3, verify, 10 * ms, step, 0);
    for (std::uint64_t block = 0; block < 6; ++block) {
      const bool hit = block % 3 == 0;
      trace.access(block, l1, hit ? AccessOutcome::hit : AccessOutcome::miss,
                   hit ? BlockOrigin::prefetched : BlockOrigin::demand, verify + static_cast<TimeNs>(block) * ms,
                   hit ? 0 : ms / 2, step);
    }
    Transfer transfer;
    transfer.track = 2, transfer.start = verify, transfer.duration = 5 * ms, transfer.from = l2, transfer.to = l1,
    transfer.bytes = transfer.useful_bytes = 4'000'000;
    r.transfers.push_back(transfer);
    Kernel kernel;
    kernel.track = 1, kernel.name = 4, kernel.start = verify, kernel.duration = 10 * ms, kernel.stall = 2 * ms,
    kernel.step = step, kernel.flops = 1'000'000'000;
    r.kernels.push_back(kernel);
    trace.step({.duration = 20 * ms,
                .drafted = 3,
                .accepted = 2,
                .draft = 8 * ms,
                .verify = 10 * ms,
                .accept = ms,
                .requests = {1, 2, 3},
                .parameter_bytes = 4'000'000,
                .flops = 1'000'000'000});
  }
  for (std::uint64_t id = 1; id <= 3; ++id) trace.request(id, RequestPoint::end, trace.now, 9);
  return trace.done();
}

// Adds `one` as a further card that starts `delay` later, as the simulated card records several of them.
void add_card(Recording& all, const Recording& one, std::uint32_t index, TimeNs delay = 0) {
  const std::uint64_t id = std::uint64_t{index} << 40;
  const auto moved = [&](auto each) {
    each.track += 10 * index;
    if constexpr (requires { each.time; }) each.time += delay;
    if constexpr (requires { each.start; }) each.start += delay;
    if constexpr (requires { each.step; }) each.step += each.step == 0 ? 0 : id;
    if constexpr (requires { each.request; }) each.request += id;
    if constexpr (requires { each.block; }) each.block += id;
    return each;
  };
  for (const auto& each : one.slices) {
    all.slices.push_back(moved(each));
    if (each.argument != 0) all.slices.back().argument += id;
  }
  for (const auto& each : one.requests) all.requests.push_back(moved(each));
  for (const auto& each : one.steps) all.steps.push_back(moved(each));
  for (const auto& each : one.speculation) all.speculation.push_back(moved(each));
  for (const auto& each : one.accesses) all.accesses.push_back(moved(each));
  for (const auto& each : one.transfers) all.transfers.push_back(moved(each));
  for (const auto& each : one.kernels) all.kernels.push_back(moved(each));
  for (const auto& [track, info] : one.tracks)
    all.tracks[track + 10 * index].name = "card " + std::to_string(index) + "/" + info.name;
  for (const auto& [capacity, info] : one.capacities) {
    Capacity& sum = all.capacities[capacity];
    const Capacity before = sum;
    sum = info;
    sum.units += before.units, sum.size_bytes += before.size_bytes, sum.peak_flops += before.peak_flops;
    sum.measured_bandwidth += before.measured_bandwidth;
  }
  all.names = one.names, all.knobs = one.knobs;
}

TEST(SeveralCards, alike_have_the_metrics_of_one_and_the_sum_of_its_rates) {
  const std::set<std::string> sums = {"throughput", "decode_throughput", "concurrency", "speculation_engine_queue",
                                      "effective_bandwidth"};
  const Recording one = card();
  Recording four;
  for (std::uint32_t i = 0; i < 4; ++i) add_card(four, one, i);
  four.make_sound();
  std::size_t compared = 0;
  for (const Metric& each : catalogue().metrics()) {
    const MetricValue alone = metric(one, each.name), beside = metric(four, each.name);
    EXPECT_EQ(alone.status, beside.status) << each.name << ": " << alone.reason << " / " << beside.reason;
    if (!alone.value || !beside.value) continue;
    ++compared;
    EXPECT_NEAR(*beside.value, *alone.value * (sums.contains(each.name) ? 4 : 1), 1e-9 * std::abs(*alone.value) + 1e-12)
        << each.name;
    for (std::size_t i = 0; i < std::min(alone.parts.size(), beside.parts.size()); ++i)
      EXPECT_NEAR(beside.parts[i].value, alone.parts[i].value, 1e-9) << each.name << ": " << alone.parts[i].name;
  }
  EXPECT_GT(compared, 30u);
}

// One card prefills while another decodes, and one is idle at the end: no share leaves its range.
TEST(SeveralCards, that_start_apart_keep_shares_in_range_and_their_prefills_apart) {
  const Recording one = card(), small = card(5);
  Recording two;
  add_card(two, one, 0);
  add_card(two, small, 1, 55 * ms);
  two.make_sound();
  for (const Metric& each : catalogue().metrics()) {
    const MetricValue value = metric(two, each.name);
    EXPECT_NE(value.status, ValueStatus::invalid) << each.name << ": " << value.reason;
    if (each.unit == "ratio" && value.value) {
      EXPECT_LE(*value.value, 1 + 1e-9) << each.name;
    }
  }
  // The first decodes from its warm-up's end at 50 ms to 430 ms; the second takes 4 of its 20 ms steps after a prefill
  // of 30 ms and a warm-up. Of both, 18 of a step's 20 ms are draft and verification.
  const double walls = 380 + 380 - 30 - 20, busy = 18 * (19 + 4);
  EXPECT_NEAR(*metric(two, "compute_occupancy").value, busy / walls, 1e-9);
  EXPECT_NEAR(*metric(two, "throughput").value, 9 * 23 / (walls / 2 * 1e-3), 1e-6);
  EXPECT_NEAR(*metric(two, "speculation_engine_occupancy").value, 12 * 23 / (walls * 2), 1e-9);
  EXPECT_NEAR(*metric(two, "speculation_engine_queue").value, 4 * 23 / (walls / 2), 1e-9);
}

// Two cards take turns: each computes and copies half of the time, never at once with the other.
TEST(SeveralCards, that_take_turns_are_each_busy_half_of_the_time) {
  Recording two;
  two.tracks[1].name = "card 0/compute", two.tracks[11].name = "card 1/compute";
  two.names[5] = "all_reduce";
  for (int i = 0; i < 12; ++i) {
    for (const TrackId track : {1u, 11u}) {
      Step step;
      step.track = track, step.start = i * 10 * ms, step.duration = 10 * ms;
      step.step = two.steps.size() + 1, step.batch = 1, step.target_tokens = 1;
      two.steps.push_back(step);
    }
    const TrackId turn = i % 2 == 0 ? 1 : 11;
    Kernel kernel;
    kernel.track = turn, kernel.start = i * 10 * ms, kernel.duration = 10 * ms;
    two.kernels.push_back(kernel);
    Transfer copy;
    copy.track = turn == 1 ? 11 : 1, copy.start = i * 10 * ms, copy.duration = 10 * ms;
    two.transfers.push_back(copy);
    Slice slice;
    slice.track = turn, slice.name = 5, slice.start = i * 10 * ms, slice.duration = 10 * ms;
    two.slices.push_back(slice);
  }
  two.make_sound();
  // Of 110 ms after the warm-up the first card computes in 50, the second in 60.
  for (const char* name : {"kernel_busy_share", "copy_busy_share", "all_reduce_share"})
    EXPECT_NEAR(*metric(two, name).value, .5, 1e-9) << name;
  EXPECT_EQ(*metric(two, "copy_overlap_share").value, 0) << "the copy is the other card's";
  EXPECT_NEAR(*metric(two, "device_busy_share").value, 1, 1e-9);
}

// A long gap on one card while another prefills or waits is not explained by it.
TEST(SeveralCards, a_gap_is_not_explained_by_what_another_card_does) {
  for (const TrackId busy : {1u, 11u}) {
    Trace trace;
    trace.recording.tracks[1].name = "card 0/compute", trace.recording.tracks[11].name = "card 1/compute";
    trace.request(1, RequestPoint::arrive, 0), trace.request(1, RequestPoint::schedule, 0);
    for (int i = 0; i < 120; ++i) trace.step({});
    const TimeNs begin = trace.now;
    trace.step({.duration = 200 * ms});
    Step prefill;
    prefill.track = busy, prefill.start = begin, prefill.duration = 190 * ms, prefill.step = 1000;
    prefill.phase = Phase::prefill;
    trace.recording.steps.push_back(prefill);
    for (const auto& [point, time] : {std::pair(RequestPoint::arrive, begin), std::pair(RequestPoint::schedule, begin),
                                      std::pair(RequestPoint::first_token, begin + 190 * ms)}) {
      trace.request(2, point, time);
      trace.recording.requests.back().track = busy;
    }
    trace.access(1, 1, AccessOutcome::miss, BlockOrigin::demand, begin, 190 * ms);
    trace.recording.accesses.back().track = busy;
    const MetricValue share = metric(trace.done(), "prefill_culprit_share"),
                      tail = metric(trace.recording, "tail_culprit");
    ASSERT_TRUE(share.ok()) << share.reason;
    EXPECT_EQ(*share.value, busy == 1 ? 1 : 0);
    EXPECT_EQ(tail.parts.size(), busy == 1 ? 2u : 0u) << tail.reason;
  }
}

TEST(SeveralCards, the_estimate_compares_a_batch_with_its_own_cards_engines) {
  const Recording one = card();
  Recording four;
  for (std::uint32_t i = 0; i < 4; ++i) add_card(four, one, i);
  four.slices.clear();
  four.make_sound();
  // Three requests on two engines of each of four cards: one waits for 8 of 20 ms. Eight engines are no help.
  EXPECT_NEAR(*metric(four, "speculation_engine_queue").value, 4 * 8.0 / 20, 1e-9);
}

TEST(SeveralCards, a_slash_in_a_threads_name_makes_no_card) {
  Recording one = card();
  const double before = *metric(one, "compute_occupancy").value;
  one.tracks[2].name = "pool/7", one.tracks[3].name = "pool/8";
  EXPECT_EQ(*metric(one, "compute_occupancy").value, before);
}

}  // namespace
}  // namespace dmprof
