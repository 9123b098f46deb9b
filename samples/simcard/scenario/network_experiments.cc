// Experiments about what cards and servers say to each other: the limits of scale, and optical links.
#include <fmt/format.h>

#include "samples/simcard/core/math.h"
#include "samples/simcard/node/coherence.h"
#include "samples/simcard/node/collectives.h"
#include "samples/simcard/node/parameter_servers.h"
#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/run_settings.h"

namespace dmprof::simcard {
namespace {

// Emitted tokens a step at a sequence length, from draws: the curve of the run with all its falloff.
Result<double> tokens_per_step(RunSettings run, double prompt) {
  run.prompts.typical = prompt;
  const Result<ServeResult> result = run.closed_loop(1);
  if (!result) return tl::unexpected(result.error());
  return static_cast<double>(result->tokens) / static_cast<double>(result->steps);
}

double communication_share(const Hardware& hardware, const Model& model, const Parallel& parallel, double batch,
                           double tokens) {
  const StepCost cost = step_cost(hardware, model, parallel, batch, tokens, 0);
  return cost.all_reduce / cost.total();
}

// The largest number of cards up to which communication takes less than half of a step.
std::int64_t useful_cards(Hardware hardware, const Model& model, double batch, double tokens) {
  for (hardware.cards = 2; hardware.cards <= 1024; ++hardware.cards) {
    if (communication_share(hardware, model, Parallel{}, batch, tokens) >= 0.5) break;
  }
  return hardware.cards - 1;
}

}  // namespace

Result<Figures> run_limits(Section s, const Conduct& conduct) {
  Result<RunSettings> run = read_run(s, conduct.seed);
  if (!run) return tl::unexpected(run.error());
  const std::vector<std::string> names = s.texts("models");
  const std::vector<double> cards = s.quantities("coherent_cards", Quantity::number);
  for (const double n : cards) {
    if (n < 1 || n > 1024) s.complain("coherent_cards", "must hold numbers from 1 to 1024");
  }
  ErasureCode rs, lrc;
  s.integer("data_servers", rs.data, 1, 1024);
  s.integer("parity_servers", rs.parity, 1, 1024);
  s.integer("local_groups", lrc.groups, 1, 1024);
  if (s.ok() && rs.data % lrc.groups != 0) s.complain("local_groups", "must divide data_servers");
  DMPROF_TRY(s.finish());
  lrc.data = rs.data;
  lrc.parity = rs.parity - 1;
  Figures figures;
  double last_traffic = 0, last_parameters = 0, exponent = 0;
  ServeSpec spec = run->spec;
  for (const std::string& name : names) {
    Result<Model> model = open_model(name);
    if (!model) return fail(model.error().kind, fmt::format("{}: {}", s.where("models"), model.error().message));
    // Parameter servers hold what the node's cards do not; a step fetches it.
    const double traffic =
        step_cost(spec.hardware, *model, spec.parallel, 1, 1, 0, cold_share(spec.hardware, *model, 0)).cold_bytes;
    figures.push_back({fmt::format("server_gb_per_step_{}", name), traffic / 1e9, "GB"});
    if (last_traffic > 0 && traffic > 0)
      exponent = math::log(traffic / last_traffic) / math::log(parameters(*model) / last_parameters);
    last_traffic = traffic;
    last_parameters = parameters(*model);
  }
  figures.push_back({"server_traffic_exponent", exponent, "x"});
  const Result<double> near = tokens_per_step(run->watched(conduct), 1024), far = tokens_per_step(*run, 32768);
  if (!near) return tl::unexpected(near.error());
  if (!far) return tl::unexpected(far.error());
  figures.push_back({"tokens_per_step_1k", *near, "tokens"});
  figures.push_back({"tokens_per_step_32k", *far, "tokens"});
  figures.push_back(run->littles_law());
  double first = 0, last = 0;
  for (const double n : cards) {
    CoherenceLoad load;
    load.cards = static_cast<std::int64_t>(n);
    last = simulate_coherence(load, conduct.seed).per_access;
    if (first == 0) first = last;
    figures.push_back({fmt::format("coherence_bytes_per_access_{}_cards", load.cards), last, "B"});
  }
  if (first > 0) figures.push_back({"coherence_growth", last / first, "x"});
  const ServerReads healthy{.rate = 2000, .link = spec.hardware.link};
  ServerReads degraded = healthy;
  degraded.down = 1;
  figures.push_back({"rs_healthy_amplification", simulate_reads(rs, healthy, conduct.seed).amplification, "x"});
  figures.push_back({"rs_degraded_amplification", simulate_reads(rs, degraded, conduct.seed).amplification, "x"});
  figures.push_back({"lrc_degraded_amplification", simulate_reads(lrc, degraded, conduct.seed).amplification, "x"});
  return figures;
}

Result<Figures> run_optical(Section s, const Conduct&) {
  const Result<Hardware> electrical = read_hardware(s, "electrical");
  if (!electrical) return tl::unexpected(electrical.error());
  const Result<Hardware> optical = read_hardware(s, "optical");
  if (!optical) return tl::unexpected(optical.error());
  const Result<Hardware> nvlink = read_hardware(s, "nvlink");
  if (!nvlink) return tl::unexpected(nvlink.error());
  const Result<Model> model = read_model(s, "model");
  if (!model) return tl::unexpected(model.error());
  double batch = 0, tokens = 0, wavelengths = 0, per_wavelength = 0;
  s.quantity("batch", Quantity::number, batch);
  s.quantity("tokens", Quantity::number, tokens);
  s.quantity("wavelengths", Quantity::number, wavelengths);
  s.quantity("wavelength", Quantity::bandwidth, per_wavelength);
  DMPROF_TRY(s.finish());
  const auto reduce = [&](const Hardware& h) { return step_cost(h, *model, Parallel{}, batch, tokens, 0).all_reduce; };
  const auto scale = [&](const Hardware& h) { return static_cast<double>(useful_cards(h, *model, batch, tokens)); };
  return Figures{{"bandwidth_tb_s_bits", wavelengths * per_wavelength * 8 / 1e12, "Tb/s"},
                 {"energy_share", optical->link.energy_per_bit / electrical->link.energy_per_bit, "ratio"},
                 {"latency_below_nvlink_percent", 100 - 100 * optical->link.latency / nvlink->link.latency, "%"},
                 {"overhead_cut_percent", 100 - 100 * reduce(*optical) / reduce(*electrical), "%"},
                 {"useful_cards_electrical", scale(*electrical), "cards"},
                 {"useful_cards_optical", scale(*optical), "cards"},
                 {"scalability", scale(*optical) / scale(*electrical), "x"}};
}

}  // namespace dmprof::simcard
