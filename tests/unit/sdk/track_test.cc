#include <time.h>

#include <cmath>
#include <thread>
#include <vector>

#include "tests/unit/sdk/in_child.h"
#include "tests/unit/sdk/shorthand.h"

namespace dmprof {
namespace {

using Tracks = SdkTest;

TEST_F(Tracks, take_every_call_while_nobody_is_attached) {
  in_child([] {
    dmprof_track* track = dmprof_thread_track();  // before dmprof_init, too
    for (int round = 0; round < 2; ++round) {
      dmprof_end(track);
      dmprof_phase(track, 0);
      dmprof_begin(track, 1);
      dmprof_phase(track, 1);
      dmprof_end(track);
      dmprof_instant(track, 1, 1);
      dmprof_counter(track, 1, 1);
      dmprof_step_event step{};
      dmprof_step(track, &step);
      EXPECT_EQ(dmprof_enabled(), 0);
      EXPECT_EQ(dmprof_emitted(track).emitted, 0u);
      EXPECT_EQ(dmprof_emitted(nullptr).emitted, 0u);
      EXPECT_EQ(dmprof_init(nullptr), 0);
    }
    dmprof_track_end(track);
    EXPECT_NE(dmprof_thread_track(), nullptr);
  });
}

TEST_F(Tracks, evaluate_the_arguments_of_a_shorthand_only_for_a_collector) {
  in_child([] { EXPECT_EQ(emit_a_kernel_by_shorthand(dmprof_thread_track()), 0); });
}

TEST_F(Tracks, are_the_threads_own) {
  in_child([] {
    dmprof_track* mine = dmprof_thread_track();
    dmprof_track* other = nullptr;
    std::thread([&] { other = dmprof_thread_track(); }).join();
    EXPECT_NE(mine, other);
    EXPECT_EQ(mine, dmprof_thread_track());
  });
}

TEST_F(Tracks, can_be_made_and_ended_more_often_than_the_table_is_long) {
  in_child([] {
    EXPECT_EQ(dmprof_init(nullptr), 0);
    for (int i = 0; i < 3 * DMPROF_MAX_TRACKS; ++i)
      dmprof_track_end(dmprof_track_create("short", 0, DMPROF_TRACK_OWN_RING));
    std::vector<dmprof_track*> tracks;
    for (int i = 0; i < DMPROF_MAX_TRACKS + 10; ++i) tracks.push_back(dmprof_track_create("long", 0, 0));
    for (dmprof_track* track : tracks) {
      dmprof_instant(track, 0, 1);  // those beyond the table's end are only counted
      dmprof_track_end(track);
    }
  });
}

TEST_F(Tracks, convert_ticks_to_nanoseconds) {
  in_child([] {
    const dmprof_track* track = dmprof_thread_track();
    timespec from{}, to{};
    ::clock_gettime(CLOCK_MONOTONIC, &from);
    const std::uint64_t before = dmprof_now(track);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const std::uint64_t after = dmprof_now(track);
    ::clock_gettime(CLOCK_MONOTONIC, &to);
    const double elapsed =
        static_cast<double>(to.tv_sec - from.tv_sec) * 1e9 + static_cast<double>(to.tv_nsec - from.tv_nsec);
    const double measured = dmprof_ticks_to_ns(after - before);
    EXPECT_GT(measured, 29e6);
    EXPECT_LT(measured, elapsed * 1.001);
  });
}

}  // namespace
}  // namespace dmprof
