#include "samples/engine/scheduler/scheduler.h"

#include <gtest/gtest.h>

namespace dmengine {
namespace {

std::vector<std::size_t> requests(const std::vector<Admission>& admitted) {
  std::vector<std::size_t> out;
  for (const auto& a : admitted) out.push_back(a.request);
  return out;
}
using List = std::vector<std::size_t>;

TEST(Scheduler, admits_in_order_of_arrival_up_to_the_number_of_slots) {
  Scheduler scheduler(2, 0, {30, 10, 20});
  EXPECT_EQ(scheduler.take_arrived(5), List{});
  EXPECT_EQ(scheduler.next_arrival(), 10);
  EXPECT_EQ(scheduler.take_arrived(30), (List{1, 2, 0}));
  EXPECT_EQ(requests(scheduler.admit()), (List{1, 2}));
  EXPECT_EQ(scheduler.waiting(), 1U);
  EXPECT_EQ(scheduler.next_arrival(), std::nullopt);
}

TEST(Scheduler, a_freed_slot_goes_to_the_one_that_waits_longest) {
  Scheduler scheduler(2, 0, {0, 0, 0});
  scheduler.take_arrived(0);
  scheduler.admit();
  scheduler.release(1);
  const auto admitted = scheduler.admit();
  ASSERT_EQ(admitted.size(), 1U);
  EXPECT_EQ(admitted[0].request, 2U);
  EXPECT_EQ(admitted[0].slot, 1U);
  EXPECT_FALSE(scheduler.done());
  scheduler.release(0);
  scheduler.release(1);
  EXPECT_TRUE(scheduler.done());
}

TEST(Scheduler, the_concurrency_limit_holds_below_the_number_of_slots) {
  Scheduler scheduler(8, 3, {0, 0, 0, 0, 0});
  scheduler.take_arrived(0);
  EXPECT_EQ(scheduler.admit().size(), 3U);
  EXPECT_EQ(scheduler.admit().size(), 0U);
  EXPECT_EQ(scheduler.waiting(), 2U);
}

TEST(Scheduler, a_limit_above_the_slots_does_not_invent_slots) {
  Scheduler scheduler(2, 100, {0, 0, 0});
  scheduler.take_arrived(0);
  EXPECT_EQ(scheduler.admit().size(), 2U);
}

TEST(Scheduler, dropping_what_waits_leaves_only_what_runs) {
  Scheduler scheduler(1, 0, {0, 0, 500});
  scheduler.take_arrived(0);
  scheduler.admit();
  scheduler.drop_waiting();
  EXPECT_FALSE(scheduler.done());
  scheduler.release(0);
  EXPECT_TRUE(scheduler.done());
}

TEST(StepPlan, the_oldest_prompt_is_finished_first_and_decoding_goes_on) {
  const auto shares = plan_step({{100}, {0}, {40}, {10}}, 128);
  EXPECT_EQ(shares[0].prompt_tokens, 100U);
  EXPECT_TRUE(shares[0].last_chunk);
  EXPECT_EQ(shares[1].prompt_tokens, 0U);
  EXPECT_EQ(shares[2].prompt_tokens, 28U);
  EXPECT_FALSE(shares[2].last_chunk);
  EXPECT_EQ(shares[3].prompt_tokens, 0U);
}

}  // namespace
}  // namespace dmengine
