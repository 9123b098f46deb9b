#include "samples/simcard/node/hardware.h"

#include "samples/simcard/config/embedded.h"

namespace dmprof::simcard {
namespace {

void positive(Section& s, std::string_view key, Quantity kind, double& out) {
  s.quantity(key, kind, out);
  if (s.ok() && out <= 0) s.complain(key, "must be above 0");
}

void read_link(Section s, Link& link) {
  positive(s, "bandwidth", Quantity::bandwidth, link.bandwidth);
  s.quantity("latency", Quantity::duration, link.latency, 0.0);
  s.quantity("energy", Quantity::energy_per_bit, link.energy_per_bit, 0.0);
  (void)s.finish();
}

void read_card(Section s, Hardware& h) {
  Section memory = s.section("memory");
  positive(memory, "capacity", Quantity::size, h.memory_capacity);
  positive(memory, "bandwidth", Quantity::bandwidth, h.memory_bandwidth);
  positive(memory, "achieved", Quantity::ratio, h.memory_achieved);
  memory.quantity("energy", Quantity::energy_per_bit, h.memory_energy, 0.0);
  (void)memory.finish();
  Section compute = s.section("compute");
  positive(compute, "peak", Quantity::compute, h.peak_compute);
  positive(compute, "achieved", Quantity::ratio, h.compute_achieved);
  compute.quantity("energy", Quantity::energy_per_flop, h.compute_energy, 0.0);
  (void)compute.finish();
  s.quantity("idle_power", Quantity::power, h.idle_power, 0.0);
  (void)s.finish();
}

void read_speculation(Section s, Hardware& h) {
  s.integer("engines", h.engines, 1, 1024);
  s.flag("mirrored", h.mirrored, false);
  s.quantity("draft_token", Quantity::duration, h.draft_token);
  s.quantity("draft_bytes", Quantity::size, h.draft_bytes, 0.0);
  (void)s.finish();
}

void read_residuals(Section s, Residuals& r) {
  s.quantity("host", Quantity::duration, r.host, 0.0);
  s.quantity("jitter_sigma", Quantity::ratio, r.jitter_sigma, 0.0);
  s.quantity("stall_probability", Quantity::ratio, r.stall_probability, 0.0);
  s.quantity("stall_mean", Quantity::duration, r.stall_mean, 0.0);
  (void)s.finish();
}

}  // namespace

Result<Hardware> open_hardware(const std::string& name) {
  Result<Document> document = open_description("presets", name);
  if (!document) return tl::unexpected(document.error());
  Section s = document->root();
  Hardware h;
  std::string about;
  s.text("name", h.name);
  s.text("about", about, "");
  s.integer("cards", h.cards, 1, 1024);
  read_card(s.section("card"), h);
  if (s.has("speculation")) read_speculation(s.section("speculation"), h);
  read_link(s.section("link"), h.link);
  if (s.has("pool")) read_link(s.section("pool"), h.pool);
  if (s.has("residuals")) read_residuals(s.section("residuals"), h.residuals);
  DMPROF_TRY(s.finish());
  return h;
}

}  // namespace dmprof::simcard
