#include "samples/simcard/scenario/run_settings.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "dmprof/workload/trace.h"

namespace dmprof::simcard {

Result<Hardware> read_hardware(Section& s, std::string_view key) {
  std::string name;
  s.text(key, name);
  if (!s.ok()) return tl::unexpected(s.finish().error());
  Result<Hardware> hardware = open_hardware(name);
  if (!hardware) return fail(hardware.error().kind, fmt::format("{}: {}", s.where(key), hardware.error().message));
  return hardware;
}

Result<Model> read_model(Section& s, std::string_view key) {
  std::string name;
  s.text(key, name);
  if (!s.ok()) return tl::unexpected(s.finish().error());
  Result<Model> model = open_model(name);
  if (!model) return fail(model.error().kind, fmt::format("{}: {}", s.where(key), model.error().message));
  return model;
}

namespace {

void read_speculation(Section& s, Speculation& speculation) {
  s.integer("lookahead", speculation.lookahead, 0, 64, 0);
  if (s.has("acceptance")) speculation.acceptance = s.quantities("acceptance", Quantity::ratio);
  s.quantity("falloff", Quantity::number, speculation.falloff, 0.0);
}

void read_workload(Section& s, RunSettings& run) {
  double prompt = 0, output = 0, spread = 0;
  s.quantity("prompt", Quantity::number, prompt, 256.0);
  s.quantity("output", Quantity::number, output, 256.0);
  s.quantity("length_spread", Quantity::number, spread, 0.0);
  const auto kind = spread > 0 ? workload::Lengths::Kind::lognormal : workload::Lengths::Kind::fixed;
  run.prompts = {.kind = kind, .typical = prompt, .spread = spread};
  run.outputs = {.kind = kind, .typical = output, .spread = spread};
  for (const auto& [key, lengths] : {std::pair{"prompt", &run.prompts}, std::pair{"output", &run.outputs}}) {
    if (const Status status = lengths->check(); !status) s.complain(key, status.error().message);
  }
  s.text("trace", run.trace, "");
  for (const char* key : {"users", "rate", "prompt", "output", "length_spread"}) {
    if (!run.trace.empty() && s.has(key)) s.complain(key, "stands beside `trace`, which has it; remove one");
  }
  if (s.has("users") && s.has("rate")) s.complain("rate", "stands beside `users`; keep one: open or closed loop");
  if (s.has("rate")) {
    s.quantity("rate", Quantity::rate, run.arrivals.rate);
    if (s.has("burst_factor")) {
      run.arrivals.kind = workload::Arrivals::Kind::bursty;
      s.quantity("burst_factor", Quantity::number, run.arrivals.burst_factor);
      s.quantity("burst_share", Quantity::ratio, run.arrivals.burst_share);
      s.quantity("burst", Quantity::duration, run.arrivals.burst_s);
    }
  } else {
    run.arrivals.kind = workload::Arrivals::Kind::closed_loop;
    s.integer("users", run.arrivals.users, 1, 100'000, 1);
  }
  if (const Status status = run.arrivals.check(); !status) s.complain("rate", status.error().message);
}

// What went into a tier left it or is there; what it moved was asked for; no cache stays behind.
bool tiers_add_up(const ServeResult& r) {
  return std::all_of(r.tiers.begin(), r.tiers.end(), [](const TierUse& tier) {
    const double bound = 1e-9 * (1 + tier.placed + tier.written + tier.read);
    return std::abs(tier.placed + tier.written - tier.held - tier.released) <= bound &&
           std::abs(tier.written - tier.released) <= bound;
  });
}

// Every run is checked: a figure of a run that loses requests, tokens, seconds or joules is not shown.
Status conserved(const ServeResult& r, const std::string& where) {
  const auto near = [](double a, double b, double share) { return a >= b * (1 - share) && a <= b * (1 + share); };
  const char* broken = !near(r.little(), 1, 0.01)                      ? "Little's law"
                       : r.issued != r.completed + r.refused           ? "the count of requests"
                       : r.tokens != r.tokens_asked                    ? "the count of tokens"
                       : r.kv_peak > r.kv_room * (1 + 1e-9)            ? "the room of the cache"
                       : !tiers_add_up(r)                              ? "the bytes of a tier"
                       : !near(r.energy.parts(), r.energy.total, 1e-9) ? "the sum of energies"
                                                                       : nullptr;
  if (broken == nullptr) return {};
  return fail(
      ErrorKind::cannot_answer,
      fmt::format("{}: {} does not hold in this run; this is a fault of the simulation, report it", where, broken));
}

}  // namespace

Result<RunSettings> read_run(Section& s, std::uint64_t seed) {
  RunSettings run;
  run.where = s.where("");
  Result<Hardware> hardware = read_hardware(s, "hardware");
  if (!hardware) return tl::unexpected(hardware.error());
  Result<Model> model = read_model(s, "model");
  if (!model) return tl::unexpected(model.error());
  run.spec.hardware = *hardware;
  run.spec.model = *model;
  run.spec.seed = seed;
  s.quantity("weight_bytes", Quantity::number, run.spec.model.weight_bytes, model->weight_bytes);
  if (s.ok() && run.spec.model.weight_bytes <= 0) s.complain("weight_bytes", "must be above 0");
  read_speculation(s, run.spec.speculation);
  read_workload(s, run);
  constexpr std::int64_t most_requests = 10'000'000;  // of a trace, too: one is run whole unless `requests` cuts it
  s.integer("requests", run.spec.requests, 1, most_requests, run.trace.empty() ? 1000 : most_requests);
  s.integer("warm_up", run.spec.warm_up, 0, 1'000'000, 0);
  s.integer("most_active", run.spec.most_active, 1, 65536, 16);
  s.quantity("streamed_weights", Quantity::ratio, run.spec.parallel.streamed_weights, 0.0);
  s.integer("pipeline_stages", run.spec.parallel.pipeline_stages, 1, 1024, 1);
  if (s.ok() && run.spec.hardware.cards % run.spec.parallel.pipeline_stages != 0)
    s.complain("pipeline_stages", "does not divide the number of cards; choose a divisor");
  s.quantity("kv_share", Quantity::ratio, run.spec.kv_share, run.spec.kv_share);
  s.quantity("expert_skew", Quantity::number, run.spec.expert_skew, 0.0);
  if (s.ok() && (run.spec.kv_share <= 0 || run.spec.kv_share >= 1))
    s.complain("kv_share", "must lie between 0 and 1; 0.1 is usual");
  run.spec.wait_for_all_drafts = s.choice("verify", {"all", "ready"}, 0) == 0;
  run.spec.prefill = s.choice("prefill", {"none", "together"}, 0) == 0 ? Prefill::none : Prefill::together;
  if (!s.ok()) return tl::unexpected(s.finish().error());
  return run;
}

Result<ServeResult> RunSettings::closed_loop(std::int64_t users) const {
  if (!trace.empty())
    return fail(ErrorKind::bad_input, fmt::format("{}: trace: this experiment is run by users; remove it", where));
  RunSettings run = *this;
  run.arrivals.kind = workload::Arrivals::Kind::closed_loop;
  run.arrivals.users = users;
  run.spec.most_active = users;
  return run.as_described();
}

Result<ServeResult> RunSettings::as_described() const {
  std::optional<workload::Source> source;
  ServeSpec told = spec;
  if (trace.empty()) {
    source.emplace(arrivals, prompts, outputs, spec.seed);
  } else {
    Result<workload::Trace> requests = workload::read_trace(trace);
    if (!requests) return fail(requests.error().kind, fmt::format("{}: trace: {}", where, requests.error().message));
    told.requests = std::min(spec.requests, static_cast<std::int64_t>(requests->requests.size()));
    source.emplace(std::move(requests->requests));
  }
  if (witness != nullptr) told.observer = witness->serving(spec);
  Result<ServeResult> result = serve(told, std::move(*source));
  if (!result) return fail(result.error().kind, fmt::format("{}: {}", where, result.error().message));
  if (result->overloaded)
    return fail(ErrorKind::bad_input,
                fmt::format("{}: the queue never drains: {} requests wait after {:.4g} s; lower the rate or add cards",
                            where, result->issued - result->completed, result->seconds));
  if (result->refused > 0)
    return fail(
        ErrorKind::bad_input,
        fmt::format("{}: {} requests are longer than the memory that the weights leave; add cards or shorten them",
                    where, result->refused));
  DMPROF_TRY(conserved(*result, where));
  if (std::abs(result->little() - 1) > std::abs(*little - 1)) *little = result->little();
  return result;
}

}  // namespace dmprof::simcard
