#include <set>

#include "tests/unit/sdk/in_child.h"

namespace dmprof {
namespace {

using Tables = SdkTest;

TEST_F(Tables, give_the_same_name_the_same_id_before_and_after_the_page_is_published) {
  in_child([] {
    const std::uint32_t draft = dmprof_name("draft"), verify = dmprof_name("verify");
    EXPECT_NE(draft, 0u);
    EXPECT_NE(draft, verify);
    EXPECT_EQ(dmprof_init(nullptr), 0);
    EXPECT_EQ(dmprof_name("draft"), draft);
    dmprof_shutdown();
    EXPECT_EQ(dmprof_name("verify"), verify);
    EXPECT_EQ(dmprof_init(nullptr), 0);
    EXPECT_EQ(dmprof_name("draft"), draft);
    EXPECT_EQ(dmprof_name(""), 0u);
    EXPECT_EQ(dmprof_name(nullptr), 0u);
  });
}

TEST_F(Tables, cut_long_names_and_say_none_when_they_are_full) {
  in_child([] {
    const std::string name(300, 'x');
    EXPECT_EQ(dmprof_name(name.c_str()), dmprof_name(name.substr(0, 255).c_str()));
    std::set<std::uint32_t> ids;
    for (int i = 0; i < 5000; ++i) ids.insert(dmprof_name(("name " + std::to_string(i)).c_str()));
    EXPECT_EQ(ids.size(),
              static_cast<std::size_t>(DMPROF_MAX_NAMES - 2 + 1));  // without the empty and the long one, with "none"
    EXPECT_EQ(dmprof_name("one more"), 0u);
    EXPECT_NE(dmprof_name("name 7"), 0u);
  });
}

TEST_F(Tables, keep_the_id_of_a_knob_and_a_capacity_that_is_registered_again) {
  in_child([] {
    dmprof_knob knob{};
    knob.name = "lookahead";
    const std::uint32_t id = dmprof_knob_register(&knob);
    EXPECT_NE(id, 0u);
    EXPECT_EQ(dmprof_knob_register(&knob), id);
    dmprof_knob_set(0, "ignored");
    dmprof_knob_set(999, "ignored");
    dmprof_capacity_info tier{};
    tier.name = "dram";
    const std::uint32_t dram = dmprof_capacity(&tier);
    tier.size_bytes = 5;
    EXPECT_EQ(dmprof_capacity(&tier), dram);
    tier.name = "";
    EXPECT_EQ(dmprof_capacity(&tier), 0u);
    EXPECT_EQ(dmprof_capacity(nullptr), 0u);
    for (int i = 0; i < 100; ++i) {
      const std::string name = std::to_string(i);
      knob.name = name.c_str();
      EXPECT_EQ(dmprof_knob_register(&knob) != 0, i < DMPROF_MAX_KNOBS - 1);
    }
  });
}

TEST_F(Tables, hand_out_clocks_until_none_is_left) {
  in_child([] {
    EXPECT_EQ(dmprof_clock_register("host", DMPROF_CLOCK_HOST), 0u);
    for (std::uint32_t i = 1; i < DMPROF_MAX_CLOCKS; ++i)
      EXPECT_EQ(dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL), i);
    EXPECT_EQ(dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL), 0u);
    dmprof_clock_set(500, 1);
    dmprof_clock_set(3, 77);
    const dmprof_track* track = dmprof_track_create("x", 3, 0);
    EXPECT_EQ(dmprof_now(track), 77u);
  });
}

}  // namespace
}  // namespace dmprof
