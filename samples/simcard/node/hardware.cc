#include "samples/simcard/node/hardware.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "samples/simcard/config/embedded.h"

namespace dmprof::simcard {
namespace {

// Reads the sections of one preset. With a base, every key may be left out and keeps the base's value.
class Reader {
 public:
  Reader(Hardware& hardware, bool based) : h_(hardware), based_(based) {}

  void card(Section s) {
    Section memory = sub(s, "memory");
    positive(memory, "capacity", Quantity::size, h_.memory_capacity);
    positive(memory, "bandwidth", Quantity::bandwidth, h_.memory_bandwidth);
    positive(memory, "achieved", Quantity::ratio, h_.memory_achieved);
    memory.quantity("energy", Quantity::energy_per_bit, h_.memory_energy, h_.memory_energy);
    (void)memory.finish();
    Section compute = sub(s, "compute");
    positive(compute, "peak", Quantity::compute, h_.peak_compute);
    positive(compute, "achieved", Quantity::ratio, h_.compute_achieved);
    compute.quantity("energy", Quantity::energy_per_flop, h_.compute_energy, h_.compute_energy);
    compute.flag("in_memory", h_.compute_in_memory, h_.compute_in_memory);
    (void)compute.finish();
    s.quantity("idle_power", Quantity::power, h_.idle_power, h_.idle_power);
    (void)s.finish();
  }

  void link(Section s, Link& link) {
    positive(s, "bandwidth", Quantity::bandwidth, link.bandwidth);
    s.quantity("latency", Quantity::duration, link.latency, link.latency);
    s.quantity("energy", Quantity::energy_per_bit, link.energy_per_bit, link.energy_per_bit);
    (void)s.finish();
  }

  // `cxl` before `nvme`: the nearer one first. With a base, a tier that is named again keeps what is not stated.
  void tiers(Section s) {
    for (const char* name : {"cxl", "nvme"}) {
      if (!s.has(name)) continue;
      auto found = std::find_if(h_.tiers.begin(), h_.tiers.end(), [&](const auto& tier) { return tier.name == name; });
      const bool known = found != h_.tiers.end();
      if (!known) {
        found = h_.tiers.insert(name == std::string_view("cxl") ? h_.tiers.begin() : h_.tiers.end(), TierParameters{});
        found->name = name;
      }
      tier(s.section(name), *found, known);
    }
    (void)s.finish();
  }

  void speculation(Section s) {
    s.integer("engines", h_.engines, 1, 1024, based_ ? std::optional(h_.engines) : std::nullopt);
    s.flag("mirrored", h_.mirrored, h_.mirrored);
    s.quantity("draft_token", Quantity::duration, h_.draft_token, kept(h_.draft_token));
    s.quantity("draft_bytes", Quantity::size, h_.draft_bytes, h_.draft_bytes);
    s.quantity("draft_bytes_per_parameter", Quantity::number, h_.draft_bytes_per_parameter,
               h_.draft_bytes_per_parameter);
    if (s.ok() && h_.draft_bytes_per_parameter <= 0) s.complain("draft_bytes_per_parameter", "must be above 0");
    if (s.has("coarse")) {
      Section coarse = s.section("coarse");
      coarse.integer("lookahead", h_.coarse.lookahead, 1, 64);
      coarse.quantity("acceptance", Quantity::ratio, h_.coarse.acceptance);
      coarse.quantity("token", Quantity::duration, h_.coarse.token);
      coarse.quantity("bytes", Quantity::size, h_.coarse.bytes);
      (void)coarse.finish();
    }
    (void)s.finish();
  }

  void residuals(Section s) {
    Residuals& r = h_.residuals;
    s.quantity("host", Quantity::duration, r.host, r.host);
    s.quantity("jitter_sigma", Quantity::ratio, r.jitter_sigma, r.jitter_sigma);
    s.quantity("stall_probability", Quantity::ratio, r.stall_probability, r.stall_probability);
    s.quantity("stall_mean", Quantity::duration, r.stall_mean, r.stall_mean);
    (void)s.finish();
  }

 private:
  static void tier(Section s, TierParameters& t, bool known) {
    const auto kept = [known](double value) { return known ? std::optional(value) : std::nullopt; };
    s.quantity("capacity", Quantity::size, t.capacity, kept(t.capacity));
    s.quantity("bandwidth", Quantity::bandwidth, t.link.bandwidth, kept(t.link.bandwidth));
    s.quantity("latency", Quantity::duration, t.link.latency, kept(t.link.latency));
    s.quantity("energy", Quantity::energy_per_bit, t.link.energy_per_bit, t.link.energy_per_bit);
    s.quantity("request", Quantity::size, t.request_bytes, t.request_bytes);
    s.integer("outstanding", t.outstanding, 1, 65536, t.outstanding);
    s.quantity("compression", Quantity::number, t.compression, t.compression);
    s.quantity("packing", Quantity::bandwidth, t.packing, t.packing);
    for (const auto& [key, value, least] : {std::tuple{"capacity", t.capacity, 1.0},
                                            {"bandwidth", t.link.bandwidth, 1.0},
                                            {"request", t.request_bytes, 512.0},
                                            {"compression", t.compression, 1.0}}) {
      if (s.ok() && value < least) s.complain(key, fmt::format("must be at least {:g}", least));
    }
    (void)s.finish();
  }
  std::optional<double> kept(double value) const { return based_ ? std::optional(value) : std::nullopt; }
  void positive(Section& s, std::string_view key, Quantity kind, double& out) const {
    s.quantity(key, kind, out, kept(out));
    if (s.ok() && out <= 0) s.complain(key, "must be above 0");
  }
  // With a base, a section that is not there is an empty one.
  Section sub(Section& s, std::string_view key) const { return based_ && !s.has(key) ? Section() : s.section(key); }

  Hardware& h_;
  bool based_;
};

Result<Hardware> open_at(const std::string& name, int depth) {
  Result<Document> document = open_description("presets", name);
  if (!document) return tl::unexpected(document.error());
  Section s = document->root();
  Hardware h;
  std::string about, base;
  s.text("base", base, "");
  if (!base.empty()) {
    constexpr int deepest = 8;
    if (depth == deepest) s.complain("base", "leads through more than eight presets; break the circle");
    if (!s.ok()) return tl::unexpected(s.finish().error());
    Result<Hardware> found = open_at(base, depth + 1);
    if (!found) return fail(found.error().kind, s.where("base") + ": " + found.error().message);
    h = *found;
  }
  Reader reader(h, !base.empty());
  const auto wanted = [&](std::string_view key) { return base.empty() || s.has(key); };
  s.text("name", h.name);
  s.text("about", about, "");
  s.integer("cards", h.cards, 1, 1024, base.empty() ? std::nullopt : std::optional(h.cards));
  if (wanted("card")) reader.card(s.section("card"));
  if (s.has("speculation")) reader.speculation(s.section("speculation"));
  if (wanted("link")) reader.link(s.section("link"), h.link);
  if (s.has("tiers")) reader.tiers(s.section("tiers"));
  if (s.has("residuals")) reader.residuals(s.section("residuals"));
  DMPROF_TRY(s.finish());
  return h;
}

}  // namespace

Result<Hardware> open_hardware(const std::string& name) { return open_at(name, 0); }

}  // namespace dmprof::simcard
