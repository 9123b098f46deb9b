#include "samples/simcard/serve/serve.h"

#include <utility>

#include <fmt/format.h>

#include "samples/simcard/serve/node_run.h"

namespace dmprof::simcard {
namespace {

Status check(const ServeSpec& spec) {
  const auto wrong = [](std::string what) { return fail(ErrorKind::bad_input, std::move(what)); };
  if (spec.most_active < 1) return wrong("no request may be active; allow at least one");
  if (spec.requests < 1) return wrong("no request is issued; ask for at least one");
  const std::int64_t stages = spec.parallel.pipeline_stages;
  if (stages < 1 || spec.hardware.cards % stages != 0)
    return wrong(
        fmt::format("{} pipeline stages do not divide {} cards; choose a divisor", stages, spec.hardware.cards));
  if (spec.speculation.acceptance.empty()) return wrong("the acceptance curve is empty; give at least one value");
  if (spec.kv_share <= 0 || spec.kv_share >= 1) return wrong("kv_share must lie between 0 and 1; 0.1 is usual");
  const double held = parameters(spec.model) * spec.model.weight_bytes;
  const auto lacks = [&](const Hardware& h, const char* what) {
    return wrong(fmt::format("{} needs {:.0f} GB, {} holds {:.0f} GB and {}", spec.model.name, held / 1e9, h.name,
                             h.memory() / 1e9, what));
  };
  if (held > spec.hardware.memory() && spec.hardware.tiers.empty())
    return lacks(spec.hardware, "has no tier behind; add cards or a tier");
  if (spec.prefill == Prefill::apart && held > spec.prefill_hardware.memory())
    return lacks(spec.prefill_hardware, "prefills; add cards to it");
  return {};
}

}  // namespace

double ServeResult::little() const {
  if (completed == 0 || seconds <= 0) return 0;
  return mean_present / (static_cast<double>(completed) / seconds * residence.mean);
}

Result<ServeResult> serve(const ServeSpec& spec, workload::Source source) {
  DMPROF_TRY(check(spec));
  NodeRun run(spec, std::move(source));
  if (!run.possible())
    return fail(ErrorKind::bad_input,
                fmt::format("the tiers of {} cannot hold what its cards do not of {}; add cards, or capacity to a tier",
                            spec.hardware.name, spec.model.name));
  return run.run();
}

}  // namespace dmprof::simcard
