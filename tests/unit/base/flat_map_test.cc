#include "dmprof/base/flat_map.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace dmprof {
namespace {

TEST(FlatMap, finds_what_the_standard_map_finds_whatever_comes_and_goes) {
  std::mt19937_64 random(1);
  for (const std::uint64_t stride : {std::uint64_t{1}, std::uint64_t{1} << 32, std::uint64_t{1} << 60, UINT64_MAX}) {
    FlatMap<std::uint64_t> map;
    std::unordered_map<std::uint64_t, std::uint64_t> reference;
    for (std::uint64_t round = 0; round < 20'000; ++round) {
      const std::uint64_t key = random() % 300 * stride;
      if (random() % 3 == 0) {
        EXPECT_EQ(map.erase(key), reference.erase(key) > 0);
      } else {
        const auto [value, added] = map.insert(key);
        EXPECT_EQ(added, !reference.contains(key));
        *value = reference[key] = round;
      }
      const std::uint64_t asked = random() % 300 * stride;
      const std::uint64_t* const found = map.find(asked);
      ASSERT_EQ(found != nullptr, reference.contains(asked));
      if (found != nullptr) {
        ASSERT_EQ(*found, reference[asked]);
      }
    }
    ASSERT_EQ(map.size(), reference.size());
    std::size_t visited = 0;
    map.each([&](std::uint64_t key, std::uint64_t value) {
      ++visited;
      EXPECT_EQ(reference.at(key), value);
    });
    EXPECT_EQ(visited, reference.size());
    map.clear();
    EXPECT_TRUE(map.empty());
    EXPECT_FALSE(map.contains(0));
  }
}

TEST(FlatMap, an_empty_one_answers_and_a_new_value_is_the_default) {
  FlatMap<int> map;
  EXPECT_FALSE(map.contains(7));
  EXPECT_FALSE(map.erase(7));
  EXPECT_EQ(map[UINT64_MAX], 0);
  map[UINT64_MAX] = 3;
  EXPECT_TRUE(map.erase(UINT64_MAX));
  EXPECT_EQ(map[UINT64_MAX], 0) << "what was erased is not remembered";
}

}  // namespace
}  // namespace dmprof
