#include "dmprof/event/describe.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dmprof {
namespace {

// Converts to anything: counts the members of an aggregate by how many of these can initialise it.
struct Anything {
  template <class T>
  operator T() const;
};

template <class E, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { E{(static_cast<void>(I), Anything{})...}; };
}

template <class E, std::size_t N = 0>
constexpr std::size_t member_count() {
  if constexpr (takes<E>(std::make_index_sequence<N + 1>())) {
    return member_count<E, N + 1>();
  } else {
    return N;
  }
}

TEST(Describe, names_every_member_of_every_event_type) {
  for_each_event_type([]<class E>() { EXPECT_EQ(field_count<E>, member_count<E>()) << Describe<E>::table; });
}

TEST(Describe, gives_every_type_its_own_number_and_table) {
  std::set<int> kinds;
  std::set<std::string_view> tables;
  for_each_event_type([&]<class E>() {
    EXPECT_GT(Describe<E>::kind, 0);
    EXPECT_TRUE(kinds.insert(Describe<E>::kind).second) << Describe<E>::table;
    EXPECT_TRUE(tables.insert(Describe<E>::table).second) << Describe<E>::table;
  });
  EXPECT_EQ(kinds.size(), std::variant_size_v<Event>);
}

TEST(Describe, names_no_field_twice_in_one_table) {
  for_each_event_type([]<class E>() {
    std::set<std::string_view> names;
    for_each_field<E>([&](const auto& field, std::size_t) {
      EXPECT_TRUE(names.insert(field.name).second) << Describe<E>::table << "." << field.name;
      EXPECT_FALSE(field.doc.empty());
    });
  });
}

TEST(Describe, keeps_the_numbers_and_order_that_recordings_depend_on) {
  EXPECT_EQ(Describe<Slice>::kind, 1);
  EXPECT_EQ(Describe<SpeculationStep>::kind, 6);
  EXPECT_EQ(Describe<Kernel>::kind, 10);
  EXPECT_EQ(Describe<AggregateSample>::kind, 11);
  EXPECT_EQ(field_index<&Slice::argument>, 6U);
  EXPECT_EQ(field_index<&SpeculationStep::cut>, 13U);
  EXPECT_EQ(field_index<&Step::accept_time>, 10U);
}

TEST(Labels, say_question_mark_for_a_number_without_a_word) {
  EXPECT_EQ(label(RequestPoint::first_token), "first_token");
  EXPECT_EQ(label(static_cast<RequestPoint>(200)), "?");
  EXPECT_FALSE(is_known(static_cast<AccessOutcome>(3)));
}

TEST(EventTimes, saturate_instead_of_overflowing) {
  Slice slice;
  slice.start = INT64_MAX - 5;
  slice.duration = 100;
  EXPECT_EQ(end_of(slice), INT64_MAX);
  slice.duration = -3;
  EXPECT_EQ(end_of(slice), slice.start);
  EXPECT_EQ(end_of(Instant{.time = 7}), 7);
}

}  // namespace
}  // namespace dmprof
