// Experiments about what is not built: models up to a trillion parameters, and the next generation of hardware.
#include <fmt/format.h>

#include "samples/simcard/core/math.h"
#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/run_settings.h"
#include "samples/simcard/serve/cold_weights.h"

namespace dmprof::simcard {

// Step time of one decode step per model on two machines; both are linear in bytes until a model no longer fits.
Result<Figures> run_scaling(Section s, const Conduct&) {
  const Result<Hardware> gpu = read_hardware(s, "gpu");
  if (!gpu) return tl::unexpected(gpu.error());
  const Result<Hardware> card = read_hardware(s, "card");
  if (!card) return tl::unexpected(card.error());
  const std::vector<std::string> names = s.texts("models");
  double weight_bytes = 0, batch = 0, context = 0, lookahead = 0;
  s.quantity("weight_bytes", Quantity::number, weight_bytes);
  s.quantity("batch", Quantity::number, batch);
  s.quantity("context", Quantity::number, context);
  s.quantity("lookahead", Quantity::number, lookahead);
  DMPROF_TRY(s.finish());
  if (names.size() < 2)
    return fail(ErrorKind::bad_input, fmt::format("{}: {} of them, and growth needs two; name another model",
                                                  s.where("models"), names.size()));
  if (!(batch >= 1))
    return fail(ErrorKind::bad_input, fmt::format("{}: {} is not possible; write 1 or more", s.where("batch"), batch));
  Figures figures;
  struct Point {
    double parameters, gpu, card;
    bool gpu_fits, card_fits;
  };
  std::vector<Point> points;
  for (const std::string& name : names) {
    Result<Model> model = open_model(name);
    if (!model) return fail(model.error().kind, fmt::format("{}: {}", s.where("models"), model.error().message));
    model->weight_bytes = weight_bytes;
    const double kv = batch * context * kv_bytes_per_token(*model);
    const auto step = [&](const Hardware& hardware, double tokens) {
      return step_cost(hardware, *model, Parallel{}, batch, tokens, context, cold_share(hardware, *model, kv));
    };
    const StepCost on_gpu = step(*gpu, 1), on_card = step(*card, lookahead + 1);
    const std::optional<double> gpu_s = pass_seconds(*gpu, *model, on_gpu, kv);
    const std::optional<double> card_s = pass_seconds(*card, *model, on_card, kv);
    if (!gpu_s || !card_s)
      return fail(ErrorKind::bad_input, fmt::format("{}: {} fits neither the memory nor the tiers of {}; add a tier",
                                                    s.where("models"), name, gpu_s ? "card" : "gpu"));
    points.push_back({parameters(*model), *gpu_s, *card_s, on_gpu.cold_bytes == 0, on_card.cold_bytes == 0});
    figures.push_back({fmt::format("gpu_ms_{}", name), points.back().gpu * 1e3, "ms"});
    figures.push_back({fmt::format("card_ms_{}", name), points.back().card * 1e3, "ms"});
  }
  // d log time / d log parameters between the last two models that fit: 1 is linear, an exponential would exceed 2
  // here.
  const auto exponent = [&](auto time, auto fits) {
    double result = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (fits(points[i]) && points[i - 1].parameters > 150e9)
        result = math::log(time(points[i]) / time(points[i - 1])) /
                 math::log(points[i].parameters / points[i - 1].parameters);
    }
    return result;
  };
  figures.push_back({"gpu_exponent_while_it_fits",
                     exponent([](const Point& p) { return p.gpu; }, [](const Point& p) { return p.gpu_fits; }), "x"});
  figures.push_back({"card_exponent_while_it_fits",
                     exponent([](const Point& p) { return p.card; }, [](const Point& p) { return p.card_fits; }), "x"});
  figures.push_back({"gpu_largest_step", points.back().gpu / points[points.size() - 2].gpu, "x"});
  figures.push_back({"card_largest_step", points.back().card / points[points.size() - 2].card, "x"});
  figures.push_back({"card_holds_the_largest", points.back().card_fits ? 1.0 : 0.0, "yes/no"});
  return figures;
}

// The same requests on the node of today and on presets that change one thing, or all.
Result<Figures> run_next_generation(Section s, const Conduct& conduct) {
  Result<RunSettings> run = read_run(s, conduct.seed);
  if (!run) return tl::unexpected(run.error());
  Section variants = s.section("variants");
  const Result<ServeResult> base = run->watched(conduct).as_described();
  if (!base) return tl::unexpected(base.error());
  const auto per_token = [](const ServeResult& r) { return r.energy.total / static_cast<double>(r.tokens); };
  Figures figures;
  for (const std::string& name : variants.keys()) {
    const Result<Hardware> hardware = read_hardware(variants, name);
    if (!hardware) return tl::unexpected(hardware.error());
    RunSettings variant = *run;
    variant.spec.hardware = *hardware;
    const Result<ServeResult> result = variant.as_described();
    if (!result) return tl::unexpected(result.error());
    figures.push_back({name + "_link_ratio", hardware->link.bandwidth / run->spec.hardware.link.bandwidth, "x"});
    figures.push_back({name + "_throughput", result->throughput / base->throughput, "x"});
    figures.push_back({name + "_energy_per_token_percent", 100 * per_token(*result) / per_token(*base) - 100, "%"});
  }
  figures.push_back(run->littles_law());
  DMPROF_TRY(variants.finish());
  DMPROF_TRY(s.finish());
  return figures;
}

}  // namespace dmprof::simcard
