#include "samples/simcard/core/simulation.h"

#include <gmock/gmock.h>

#include "samples/simcard/core/random.h"

namespace dmprof::simcard {
namespace {

using testing::ElementsAre;

struct Log : Actor {
  std::vector<std::pair<SimTime, std::uint64_t>> seen;
  Simulation* simulation = nullptr;
  void on_event(std::uint32_t, std::uint64_t argument) override { seen.emplace_back(simulation->now(), argument); }
};

struct Breeder : Actor {  // every event makes two
  Simulation* simulation = nullptr;
  void on_event(std::uint32_t, std::uint64_t) override {
    simulation->after(1, *this, 0);
    simulation->after(2, *this, 0);
  }
};

TEST(Simulation, RunsInOrderOfTimeAndEqualTimesInOrderOfScheduling) {
  Simulation simulation;
  Log log;
  log.simulation = &simulation;
  simulation.at(20, log, 0, 1);
  simulation.at(10, log, 0, 2);
  simulation.at(20, log, 0, 3);
  simulation.at(10, log, 0, 4);
  EXPECT_EQ(simulation.run(), Ended::finished);
  EXPECT_THAT(log.seen, ElementsAre(std::pair(10, 2), std::pair(10, 4), std::pair(20, 1), std::pair(20, 3)));
}

TEST(Simulation, ThousandsOfRandomTimesComeOutSorted) {
  Simulation simulation;
  Log log;
  log.simulation = &simulation;
  Random random(7, "times");
  for (std::uint64_t i = 0; i < 20000; ++i) simulation.at(static_cast<SimTime>(random.below(500)), log, 0, i);
  EXPECT_EQ(simulation.run(), Ended::finished);
  ASSERT_EQ(log.seen.size(), 20000u);
  EXPECT_TRUE(std::is_sorted(log.seen.begin(), log.seen.end()));  // the argument is the order of scheduling
}

TEST(Simulation, StopsAtTheAskedTimeAndGoesOn) {
  Simulation simulation;
  Log log;
  log.simulation = &simulation;
  simulation.at(10, log, 0, 1);
  simulation.at(30, log, 0, 2);
  EXPECT_EQ(simulation.run(20), Ended::time_up);
  EXPECT_EQ(simulation.now(), 20);
  simulation.at(5, log, 0, 3);  // the past is now
  EXPECT_EQ(simulation.run(), Ended::finished);
  EXPECT_THAT(log.seen, ElementsAre(std::pair(10, 1), std::pair(20, 3), std::pair(30, 2)));
}

TEST(Simulation, WorkThatPilesUpWithoutEndIsAVerdictNotAllMemory) {
  Simulation simulation(1000);
  Breeder breeder;
  breeder.simulation = &simulation;
  simulation.at(0, breeder, 0);
  EXPECT_EQ(simulation.run(), Ended::overloaded);
  EXPECT_LE(simulation.pending(), 1000u);
}

TEST(Simulation, DelayBeyondTheEndOfTimeDoesNotOverflow) {
  Simulation simulation;
  Log log;
  log.simulation = &simulation;
  simulation.at(5, log, 0, 1);
  simulation.run();
  simulation.after(kForever, log, 0, 2);
  EXPECT_EQ(simulation.run(kForever - 1), Ended::time_up);
}

TEST(SimTime, ConversionsClampWhatIsNoTime) {
  EXPECT_EQ(from_seconds(1e-9), kNanosecond);
  EXPECT_EQ(from_seconds(-1), 0);
  EXPECT_EQ(from_seconds(1e300), kLongestRun);
  EXPECT_EQ(from_seconds(std::nan("")), 0);
  EXPECT_EQ(time_for(3e12, 3e12), kSecond);
  EXPECT_EQ(time_for(1, 0), 0);
}

}  // namespace
}  // namespace dmprof::simcard
