// Shares are shares however short a run is and however much is asked of it: bytes count when they have moved, and
// neither a prefill under way nor a backlog at the end may pass for work that was done.
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "samples/simcard/cli/summary.h"
#include "samples/simcard/scenario/card_experiments.h"
#include "tests/unit/simcard_card/cards.h"

namespace dmprof::simcard {
namespace {

using nlohmann::json;

// Virtual times from within the first step to some steps.
const std::vector<SimTime> durations = {
    1,
    kNanosecond,
    kMicrosecond,
    14 * kMicrosecond,
    16 * kMicrosecond,  // just after the first request was launched: its prefill has been asked for
    20 * kMicrosecond,
    50 * kMicrosecond,
    100 * kMicrosecond,
    200 * kMicrosecond,
    500 * kMicrosecond,
    kMillisecond,
    3 * kMillisecond,
};

std::vector<std::pair<std::string, CardParameters>> cards() {
  std::vector<std::pair<std::string, CardParameters>> all;
  const auto add = [&](const char* name, CardParameters base, const std::function<void(CardParameters&)>& change) {
    change(base);
    ASSERT_TRUE(check(base)) << name << ": " << check(base).error().message;
    all.emplace_back(name, std::move(base));
  };
  add("sparse", sparse_card(), [](CardParameters&) {});
  add("dense", dense_card(), [](CardParameters&) {});
  add("sparse attention", sparse_card(), [](CardParameters& p) {
    p.model.attention.attended = 512, p.model.kv_bytes = 4096, p.workload.prompts.typical = 2048;
  });
  add("L2 that never catches up", sparse_card(), [](CardParameters& p) {
    p.memory.l2_bandwidth = 1e9, p.settings.draft_billions = 12, p.workload.arrivals.users = 8;
  });
  add("many users", dense_card(), [](CardParameters& p) { p.workload.arrivals.users = 200, p.most_batch = 64; });
  add("overload", sparse_card(), [](CardParameters& p) {
    p.workload.arrivals.kind = workload::Arrivals::Kind::poisson;
    p.workload.arrivals.rate = 1e6;
    p.most_waiting = 50;
  });
  return all;
}

bool is_share(const std::string& key) {
  static const std::regex name("(^|_)(rate|ratio|share|utilization|occupancy|accuracy)$");
  return std::regex_search(key, name);
}

void expect_share(const json& value, const std::string& what) {
  if (value.is_null()) return;
  EXPECT_GE(value.get<double>(), 0) << what;
  EXPECT_LE(value.get<double>(), 1) << what;
}

TEST(Ratios, LieBetween0And1InTinyRunsAndInOverload) {
  std::size_t looked_at = 0;
  for (const auto& [name, parameters] : cards()) {
    for (const SimTime duration : durations) {
      for (const std::uint32_t count : {1u, 3u}) {
        RunDescription d{name, name, {.seed = 1, .duration = duration, .cards = count}, parameters};
        const RunResult r = run_cards(parameters, d.options, nullptr, nullptr);
        const std::string where = name + ", " + std::to_string(duration) + " ps, " + std::to_string(count) + " cards: ";
        const json summary = json::parse(summary_json(d, r));
        for (const auto& [key, value] : summary.items()) {
          if (!is_share(key)) continue;
          ++looked_at;
          expect_share(value, where + key);
        }
        if (summary["prefetch_hit_rate"].is_number()) {
          EXPECT_LE(summary["prefetch_hit_rate"].get<double>() + summary["late_rate"].get<double>(), 1 + 1e-12)
              << where;
        }
        if (summary["step_time_s"].is_number()) {
          EXPECT_LE(summary["draft_time_s"].get<double>() + summary["verify_time_s"].get<double>(),
                    summary["step_time_s"].get<double>() * (1 + 1e-9))
              << where;
          EXPECT_LE(summary["stall_time_s"].get<double>(), summary["verify_time_s"].get<double>() * (1 + 1e-9))
              << where;
        }
        EXPECT_LE(r.l2_bytes, r.l2_asked_bytes) << where;
        const std::string text = summary_text(d, r);
        const std::regex percent("([0-9.e+-]+) %");
        for (auto i = std::sregex_iterator(text.begin(), text.end(), percent); i != std::sregex_iterator(); ++i)
          expect_share(std::stod((*i)[1]) / 100, where + i->str());
      }
    }
  }
  EXPECT_EQ(looked_at, 6 * durations.size() * 2 * 6);  // a share that is renamed must not leave unseen
}

TEST(Ratios, OfTheFixesExperimentHoldInRunsOfMicroseconds) {
  for (const char* duration : {"1us", "20us", "100us", "300us", "1ms"}) {
    const Result<Document> document = Document::parse(std::string("{duration: ") + duration + "}", "short");
    ASSERT_TRUE(document);
    for (const Experiment& each : card_experiments()) {
      const Result<Figures> figures = each.run(document->root(), {.seed = 1});
      ASSERT_TRUE(figures) << figures.error().message;
      for (const Figure& figure : *figures) {
        const bool difference = figure.name.ends_with("_gain");
        if (figure.unit != "ratio") continue;
        EXPECT_GE(figure.value, difference ? -1 : 0) << duration << " " << figure.name;
        EXPECT_LE(figure.value, 1) << duration << " " << figure.name;
      }
    }
  }
}

// Long enough that what is under way at the end is little: bytes moved are those of the transfers, at the peak rate.
TEST(Ratios, ABoundCardMovesWhatItsL2CanAndTheBytesAreTheTransfers) {
  CardParameters p = dense_card();
  p.memory.row_miss = 0;
  p.compute.layer_sync = p.compute.step_host = 0;
  p.compute.peak_flops = 1e18;
  p.settings.draft_billions = 0;
  const RunResult r = run_for(p, 0.05);
  EXPECT_LE(r.l2_bytes, r.l2_asked_bytes);
  EXPECT_GT(static_cast<double>(r.l2_bytes), 0.99 * static_cast<double>(r.l2_asked_bytes));
  EXPECT_GT(static_cast<double>(r.l2_bytes), 0.9 * 0.05 * p.memory.l2_bandwidth);
  EXPECT_LE(static_cast<double>(r.l2_bytes), 0.05 * p.memory.l2_bandwidth);
}

TEST(Ratios, BytesOfAChannelMoveAtItsRate) {
  MemoryParameters p;
  p.row_miss = 0;
  Channels channels(p);
  EXPECT_EQ(channels.moved(0), 0u);
  channels.stream(0, 3'000'000);  // 1 us at 3 TB/s
  EXPECT_EQ(channels.moved(0), 0u);
  EXPECT_NEAR(static_cast<double>(channels.moved(kMicrosecond / 4)), 750'000, 100);
  EXPECT_EQ(channels.moved(kMicrosecond), 3'000'000u);
  EXPECT_EQ(channels.moved(kSecond), 3'000'000u);
}

}  // namespace
}  // namespace dmprof::simcard
