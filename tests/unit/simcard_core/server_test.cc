#include "samples/simcard/core/server.h"

#include <gmock/gmock.h>

#include "samples/simcard/core/random.h"

namespace dmprof::simcard {
namespace {

using testing::ElementsAre;

struct Done : Actor {
  Simulation* simulation = nullptr;
  std::vector<std::pair<std::uint64_t, SimTime>> done;
  void on_event(std::uint32_t, std::uint64_t job) override { done.emplace_back(job, simulation->now()); }
};

struct Stretches : ServerListener {
  double busy = 0;
  Simulation* simulation = nullptr;
  void on_service(const Job&, std::uint32_t, SimTime start) override { busy += seconds(simulation->now() - start); }
};

TEST(Server, MoreJobsThanServersRunToTheirEndInOrder) {
  Simulation simulation;
  Done done;
  done.simulation = &simulation;
  Server server(simulation, 2);
  for (std::uint64_t i = 0; i < 3; ++i) server.submit({10, &done, 0, i});
  simulation.run();
  EXPECT_THAT(done.done, ElementsAre(std::pair(0u, 10), std::pair(1u, 10), std::pair(2u, 20)));
}

TEST(Server, TakingTurnsSpreadsThreeJobsOverTwoServers) {
  Simulation simulation;
  Done done;
  done.simulation = &simulation;
  Server server(simulation, 2, 1);
  for (std::uint64_t i = 0; i < 3; ++i) server.submit({10, &done, 0, i});
  simulation.run();
  EXPECT_THAT(done.done, ElementsAre(std::pair(0u, 14), std::pair(1u, 15), std::pair(2u, 15)));  // 30 of work on two
}

TEST(Server, AFullQueueRefuses) {
  Simulation simulation;
  Done done;
  done.simulation = &simulation;
  Server server(simulation, 1, 0, 1);
  EXPECT_TRUE(server.submit({10, &done, 0, 0}));
  EXPECT_TRUE(server.submit({10, &done, 0, 1}));
  EXPECT_FALSE(server.submit({10, &done, 0, 2}));
  simulation.run();
  EXPECT_EQ(server.statistics().completed, 2u);
}

TEST(Server, ListenersSeeAllServiceAndLittleHolds) {
  Simulation simulation;
  Done done;
  done.simulation = &simulation;
  Stretches stretches;
  stretches.simulation = &simulation;
  Server server(simulation, 3, 2 * kMillisecond, SIZE_MAX, &stretches);
  Random random(1, "jobs");
  for (std::uint64_t i = 0; i < 200; ++i) {
    simulation.run(simulation.now() + from_seconds(random.exponential(2e-3)));
    server.submit({from_seconds(random.exponential(5e-3)), &done, 0, i});
  }
  simulation.run();
  const ServerStatistics s = server.statistics();
  EXPECT_EQ(s.completed, 200u);
  EXPECT_NEAR(stretches.busy, s.busy, 1e-9);
  EXPECT_NEAR(s.present, s.sojourn, 1e-9);  // Little's law: L T = lambda W T, exact once everything has left
}

struct Poisson : Actor {
  Simulation* simulation = nullptr;
  Server* server = nullptr;
  Random between{9, "between"}, service{9, "service"};
  double gap = 0, mean = 0;
  std::uint64_t left = 0;
  void on_event(std::uint32_t kind, std::uint64_t) override {
    if (kind == 1 || left-- == 0) return;
    server->submit({from_seconds(service.exponential(mean)), this, 1, 0});
    simulation->after(from_seconds(between.exponential(gap)), *this, 0);
  }
};

// Erlang C for four engines: mean response / service at utilisation .8 is 1.7454 (C = .5964, W/s = 1 + C / (c (1 -
// rho))).
TEST(Server, FourEnginesWithPoissonArrivalsFollowErlangC) {
  Simulation simulation;
  Server server(simulation, 4);
  Poisson source;
  source.simulation = &simulation;
  source.server = &server;
  source.mean = 1e-3;
  source.gap = 1e-3 / (4 * 0.8);
  source.left = 2000000;
  simulation.at(0, source, 0);
  EXPECT_EQ(simulation.run(), Ended::finished);
  const ServerStatistics s = server.statistics();
  EXPECT_NEAR(s.sojourn / static_cast<double>(s.completed) / 1e-3, 1.7455, 0.01 * 1.7455);
  EXPECT_NEAR(s.busy / s.observed / 4, 0.8, 0.008);
}

}  // namespace
}  // namespace dmprof::simcard
