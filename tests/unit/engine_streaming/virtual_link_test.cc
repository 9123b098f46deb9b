#include "samples/engine/streaming/virtual_link.h"

#include <gtest/gtest.h>

namespace dmengine {
namespace {

TEST(VirtualLink, an_idle_link_takes_latency_plus_bytes_over_bandwidth) {
  VirtualLink link({1e9, 20'000});
  const LinkSlot slot = link.reserve(5'000, 64'000);
  EXPECT_EQ(slot.start, 25'000);
  EXPECT_EQ(slot.end, 89'000);
}

TEST(VirtualLink, the_latency_of_a_queued_transfer_passes_while_the_link_is_busy) {
  VirtualLink link({1e9, 20'000});
  const LinkSlot first = link.reserve(0, 64'000);
  const LinkSlot second = link.reserve(0, 64'000);
  EXPECT_EQ(second.start, first.end);
  EXPECT_EQ(second.end, first.end + 64'000);
}

TEST(VirtualLink, a_busy_link_delivers_its_bandwidth_exactly) {
  VirtualLink link({2e9, 50'000});
  std::int64_t end = 0;
  for (int i = 0; i < 1000; ++i) end = link.reserve(0, 128'000).end;
  EXPECT_EQ(end, 50'000 + 1000 * 64'000);
}

TEST(VirtualLink, idle_time_is_not_saved_up) {
  VirtualLink link({1e9, 0});
  link.reserve(0, 1000);
  EXPECT_EQ(link.reserve(1'000'000, 1000).end, 1'001'000);
}

TEST(VirtualLink, stays_busy_as_long_as_the_memory_behind_it) {
  VirtualLink link({1e12, 0});
  link.reserve(0, 1000);
  link.extend_to(9'000);
  EXPECT_TRUE(link.busy_at(8'999));
  EXPECT_FALSE(link.busy_at(9'000));
  EXPECT_EQ(link.reserve(0, 1000).start, 9'000);
}

}  // namespace
}  // namespace dmengine
