#include "samples/simcard/card/read.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace dmprof::simcard {
namespace {

constexpr double kLongestTime = 1;  // s

class Reader {
 public:
  explicit Reader(Section section) : section_(std::move(section)) {}
  ~Reader() { (void)section_.finish(); }  // the error is shared with the root
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Section& section() { return section_; }
  void time(std::string_view key, SimTime& out) {
    double value = seconds(out);
    section_.quantity(key, Quantity::duration, value, value);
    if (value > kLongestTime) section_.complain(key, "is above a second, which no part of a card takes; write less");
    out = from_seconds(std::min(value, kLongestTime));
  }
  void size(std::string_view key, std::uint64_t& out, std::uint64_t most = std::uint64_t{1} << 50) {
    double value = static_cast<double>(out);
    section_.quantity(key, Quantity::size, value, value);
    if (value > static_cast<double>(most))
      section_.complain(key, fmt::format("must be at most {} GiB; name a smaller size", most >> 30));
    out = value > static_cast<double>(most) ? 0 : static_cast<std::uint64_t>(value + 0.5);
  }
  void real(std::string_view key, Quantity kind, double most, double& out) {
    section_.quantity(key, kind, out, out);
    if (!(out >= 0 && out <= most)) section_.complain(key, fmt::format("must lie between 0 and {:g}", most));
  }
  void share(std::string_view key, double& out) { section_.quantity(key, Quantity::ratio, out, out); }
  // What a card cannot be without.
  void above_zero(std::string_view key, Quantity kind, double most, double& out) {
    real(key, kind, most, out);
    if (!(out > 0)) section_.complain(key, "must be above 0");
  }
  void size_from(std::string_view key, std::uint64_t least, std::uint64_t& out) {
    size(key, out);
    if (out < least) section_.complain(key, fmt::format("must be at least {} B", least));
  }
  template <class Whole>
  void whole(std::string_view key, std::int64_t least, std::int64_t most, Whole& out) {
    auto value = static_cast<std::int64_t>(out);
    section_.integer(key, value, least, most, value);
    out = static_cast<Whole>(value);
  }

 private:
  Section section_;
};

constexpr std::int64_t kMany = 1 << 20;
// Far beyond any card, and small enough that no time or count of a run overflows.
constexpr double kMostBandwidth = 1e18, kMostCompute = 1e21;  // B/s, FLOP/s
constexpr double kMostPicojoules = 1e6, kMostWatts = 1e6;
constexpr double kMostBillions = 10'000, kMostDraftLayers = 10'000, kSteepest = 10;
constexpr std::uint64_t kLargestLayer = std::uint64_t{1} << 38, kMostKvOfToken = std::uint64_t{1} << 30;

void read_memory(Section section, MemoryParameters& m) {
  Reader r(std::move(section));
  r.size("l0_size", m.l0_bytes);
  r.time("l0_latency", m.l0_latency);
  r.size_from("l1_size", 1, m.l1_bytes);
  r.above_zero("l1_bandwidth", Quantity::bandwidth, kMostBandwidth, m.l1_bandwidth);
  r.section().flag("l1_one_bus", m.l1_one_bus, m.l1_one_bus);
  r.time("l1_latency", m.l1_latency);
  r.size_from("l2_size", 1, m.l2_bytes);
  r.above_zero("l2_bandwidth", Quantity::bandwidth, kMostBandwidth, m.l2_bandwidth);
  r.time("l2_latency", m.l2_latency);
  r.whole("l2_channels", 1, 4096, m.l2_channels);
  r.whole("l2_banks", 1, 4096, m.l2_banks);
  r.time("row_miss", m.row_miss);
  r.size_from("interleave", 64, m.interleave);
  r.whole("prefetch_outstanding", 0, 4096, m.prefetch_outstanding);
  r.whole("demand_outstanding", 1, 4096, m.demand_outstanding);
  r.whole("prefetch_queue", 0, kMany, m.prefetch_queue);
}

void read_compute(Section section, ComputeParameters& c) {
  Reader r(std::move(section));
  r.whole("modules", 1, 65536, c.modules);
  r.above_zero("peak", Quantity::compute, kMostCompute, c.peak_flops);
  r.time("layer_sync", c.layer_sync);
  r.time("step_host", c.step_host);
  r.time("accept_token", c.accept_token);
}

void read_engine(Section section, EngineParameters& e) {
  Reader r(std::move(section));
  r.whole("engines", 1, 4096, e.engines);
  r.time("layer_latency", e.layer_latency);
  r.above_zero("bandwidth", Quantity::bandwidth, kMostBandwidth, e.bandwidth);
  r.real("draft_layers_at_1b", Quantity::number, kMostDraftLayers, e.draft_layers_at_1b);
  r.share("draft_active_share", e.draft_active_share);
  r.time("prediction", e.prediction);
  r.time("scheduling", e.scheduling);
}

void read_energy(Section section, EnergyParameters& e) {
  Reader r(std::move(section));
  const auto picojoules = [&](std::string_view key, Quantity kind, double& out) {
    double value = out * 1e-12;
    r.real(key, kind, kMostPicojoules * 1e-12, value);
    out = value * 1e12;
  };
  picojoules("l2", Quantity::energy_per_bit, e.l2_pj_per_bit);
  picojoules("l1", Quantity::energy_per_bit, e.l1_pj_per_bit);
  picojoules("l0", Quantity::energy_per_bit, e.l0_pj_per_bit);
  picojoules("compute", Quantity::energy_per_flop, e.pj_per_flop);
  r.real("static", Quantity::power, kMostWatts, e.static_watts);
}

void read_model(Section section, ModelShape& m) {
  Reader r(std::move(section));
  r.section().text("name", m.name, m.name);
  r.whole("layers", 1, 4096, m.selection.layers);
  r.whole("blocks", 0, most_blocks, m.selection.blocks);
  r.whole("blocks_per_token", 0, kMany, m.selection.per_token);
  r.real("popularity_skew", Quantity::number, kSteepest, m.selection.skew);
  r.share("unexplained", m.selection.noise);
  if (m.selection.blocks > 0 && (m.selection.per_token < 1 || m.selection.per_token > m.selection.blocks))
    r.section().complain("blocks_per_token",
                         fmt::format("{} is not possible with {} blocks a layer; write 1 to {}", m.selection.per_token,
                                     m.selection.blocks, m.selection.blocks));
  r.size_from("block_size", 64, m.block_bytes);
  r.size("dense_size", m.dense_bytes, kLargestLayer);
  r.size("kv_size", m.kv_bytes, kMostKvOfToken);
  r.whole("attended", 0, 1 << 30, m.attention.attended);
  r.whole("kv_block", 1, kMany, m.attention.kv_block);
  r.above_zero("bytes_per_parameter", Quantity::number, 16, m.bytes_per_parameter);
  r.whole("shards", 1, kMany, m.shards);
}

// Acceptance as a real engine's recording showed it takes the place of the stated curve.
void read_fitted(Section& s, AcceptanceCurve& a) {
  std::string file;
  s.text("acceptance_fit", file, "");
  s.quantity("fit_draft_billions", Quantity::number, a.fitted_billions, a.fitted_billions);
  if (!(a.fitted_billions > 0) || a.fitted_billions > 10'000)
    return s.complain("fit_draft_billions", "must be above 0 and at most 10000; write the size its draft stands for");
  if (file.empty()) {
    if (s.has("fit_draft_billions")) s.complain("fit_draft_billions", "says nothing without acceptance_fit; name one");
    return;
  }
  for (const char* stated : {"miss_at_1b", "position_decay", "length_loss"}) {
    if (s.has(stated)) return s.complain(stated, "stands beside acceptance_fit, which takes its place; remove one");
  }
  if (const Status read = use_fit(file, a); !read) s.complain("acceptance_fit", read.error().message);
}

void read_text(Section section, LanguageParameters& l, AcceptanceCurve& a, PredictorParameters& p) {
  Reader r(std::move(section));
  r.whole("classes", 2, 4096, l.classes);
  if (!std::has_single_bit(l.classes)) r.section().complain("classes", "must be a power of two; write 64 or 128");
  r.real("transition_skew", Quantity::number, kSteepest, l.skew);
  r.share("miss_at_1b", a.miss_at_1b);
  r.real("size_exponent", Quantity::number, kSteepest, a.size_exponent);
  r.share("position_decay", a.position_decay);
  r.share("length_loss", a.length_loss);
  read_fitted(r.section(), a);
  r.whole("matrix_rows", 2, 1 << 24, p.rows);
  r.share("least_probability", p.min_probability);
}

void read_settings(Section section, Settings& s) {
  Reader r(std::move(section));
  r.real("draft_billions", Quantity::number, kMostBillions, s.draft_billions);
  r.whole("lookahead", 0, 64, s.lookahead);
  r.whole("cache_policy", 0, 2, s.cache_policy);
  r.whole("max_concurrent", 0, kMany, s.max_concurrent);
  r.section().flag("interleave", s.interleave, s.interleave);
}

// A mapping that may be absent altogether.
template <class Read>
void part(Section& parent, std::string_view key, Read read) {
  if (parent.has(key)) read(parent.section(key));
}

}  // namespace

void read_card(Section card, CardParameters& p) {
  Reader r(card);
  Section& s = r.section();
  part(s, "memory", [&](Section each) { read_memory(std::move(each), p.memory); });
  part(s, "compute", [&](Section each) { read_compute(std::move(each), p.compute); });
  part(s, "speculation_engines", [&](Section each) { read_engine(std::move(each), p.engine); });
  part(s, "energy", [&](Section each) { read_energy(std::move(each), p.energy); });
  part(s, "model", [&](Section each) { read_model(std::move(each), p.model); });
  part(s, "text", [&](Section each) { read_text(std::move(each), p.language, p.acceptance, p.predictor); });
  part(s, "settings", [&](Section each) { read_settings(std::move(each), p.settings); });
  part(s, "workload", [&](Section each) { (void)read_workload(std::move(each), p.workload); });
  s.flag("prefetch", p.prefetch, p.prefetch);
  r.whole("most_batch", 1, 65536, p.most_batch);
  r.whole("most_waiting", 1, kMany, p.most_waiting);
  if (!s.ok()) return;
  // What is possible by itself may not be together.
  if (const Status possible = check(p); !possible) s.complain(s.has("model") ? "model" : "", possible.error().message);
}

Result<CardScenario> read_card_scenario(const Section& root) {
  Section s = root;
  CardScenario scenario;
  s.text("title", scenario.title);
  double duration = seconds(scenario.duration);
  s.quantity("duration", Quantity::duration, duration, duration);
  if (!(duration > 0) || duration > seconds(kLongestRun))
    s.complain("duration", "must be above 0 and at most a day; write 2s");
  scenario.duration = from_seconds(duration);
  if (s.has("card")) read_card(s.section("card"), scenario.parameters);
  DMPROF_TRY(s.finish());
  return scenario;
}

}  // namespace dmprof::simcard
