#include "dmprof/ring/arena.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace dmprof::ring {
namespace {

constexpr std::uint64_t slots = 64;

// What an engine does with an arena.
class Engine {
 public:
  explicit Engine(const Arena& arena) : bytes_(arena.bytes()) {
    const int fd = ::open(arena.path().c_str(), O_RDWR);
    memory_ = static_cast<char*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    shrunk = ::ftruncate(fd, 0) == 0;
    ::close(fd);
  }
  ~Engine() { ::munmap(memory_, bytes_); }
  dmprof_arena_header& arena() { return *reinterpret_cast<dmprof_arena_header*>(memory_); }
  dmprof_ring_header& ring(std::uint32_t i) {
    return reinterpret_cast<dmprof_ring_header*>(memory_ + sizeof(dmprof_arena_header))[i];
  }
  void write(std::uint32_t i, std::uint64_t argument) {
    const std::uint64_t first =
        (sizeof(dmprof_arena_header) + arena().ring_count * sizeof(dmprof_ring_header) + 4095) & ~4095ull;
    auto* slot = reinterpret_cast<dmprof_slot*>(memory_ + first) + i * slots + ring(i).head % slots;
    slot->b = argument;
    ring(i).head++;
  }
  bool shrunk = true;

 private:
  char* memory_;
  std::uint64_t bytes_;
};

TEST(Arena, hands_slots_over_in_order_across_the_end_of_the_ring) {
  MemoryBudget budget(1 << 20);
  const auto arena = Arena::make(slots, 1, 5, budget);
  ASSERT_TRUE(arena) << arena.error().message;
  Engine engine(**arena);
  EXPECT_EQ(engine.arena().generation, 5u);
  std::vector<dmprof_slot> copied;
  std::uint64_t written = 0, read = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i) engine.write(0, written++);
    ASSERT_EQ((*arena)->waiting(0), 50u);
    (*arena)->copy(0, 50, copied);
    for (const dmprof_slot& slot : copied) ASSERT_EQ(slot.b, read++);
    (*arena)->consume(0, 50);
    ASSERT_EQ(engine.ring(0).tail, written);
  }
}

TEST(Arena, cannot_be_shrunk_by_the_engine) {
  MemoryBudget budget(1 << 20);
  const auto arena = Arena::make(slots, 1, 1, budget);
  ASSERT_TRUE(arena);
  EXPECT_FALSE(Engine(**arena).shrunk);
}

TEST(Arena, reads_a_ring_no_more_whose_head_is_impossible) {
  MemoryBudget budget(1 << 20);
  const auto arena = Arena::make(slots, 1, 1, budget);
  ASSERT_TRUE(arena);
  Engine engine(**arena);
  engine.ring(0).head = slots + 1;
  EXPECT_EQ((*arena)->waiting(0), 0u);
  EXPECT_TRUE((*arena)->damaged(0));
  engine.ring(0).head = 1;
  EXPECT_EQ((*arena)->waiting(0), 0u);
}

TEST(Arena, keeps_to_the_total_cap_and_says_when_no_ring_is_left) {
  MemoryBudget budget(5 * slots * sizeof(dmprof_slot));
  const auto first = Arena::make(slots, 2, 1, budget);
  ASSERT_TRUE(first);
  const auto second = Arena::make(slots, 2, 1, budget);
  ASSERT_TRUE(second);
  (*first)->grow(3);
  EXPECT_EQ((*first)->rings() + (*second)->rings(), 5u);
  EXPECT_EQ(Engine(**first).arena().exhausted, 1u);
  const auto third = Arena::make(slots, 1, 1, budget);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().kind, ErrorKind::environment);
}

TEST(Arena, gives_its_memory_back_to_the_budget) {
  MemoryBudget budget(slots * sizeof(dmprof_slot));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Arena::make(slots, 1, 1, budget));
}

TEST(Arena, offers_the_ring_of_an_ended_thread_to_others) {
  MemoryBudget budget(1 << 20);
  const auto arena = Arena::make(slots, 1, 1, budget);
  ASSERT_TRUE(arena);
  Engine engine(**arena);
  engine.ring(0).state = DMPROF_RING_ENDED;
  const std::uint32_t offers = engine.arena().offers;
  ASSERT_TRUE((*arena)->ended(0));
  (*arena)->recycle(0);
  EXPECT_EQ(engine.ring(0).state, static_cast<std::uint32_t>(DMPROF_RING_FREE));
  EXPECT_EQ(engine.arena().offers, offers + 1);
  EXPECT_EQ((*arena)->free_rings(), 1u);
}

}  // namespace
}  // namespace dmprof::ring
