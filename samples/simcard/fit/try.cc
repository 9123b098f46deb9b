#include <fmt/format.h>
#include "analyzers/registry/load.h"
#include "samples/simcard/fit/predict.h"
using namespace dmprof; using namespace dmprof::twin;
int main(int n, char** v) {
  std::vector<NamedRecording> recs;
  for (int i = 1; i < n; ++i) {
    auto reader = Reader::open(v[i]); if (!reader) { fmt::print("{}\n", reader.error().message); return 1; }
    auto r = load_recording(*reader, Events::all); if (!r) { fmt::print("{}\n", r.error().message); return 1; }
    recs.push_back({v[i], std::move(*r)});
  }
  auto f = fit(recs); if (!f) { fmt::print("{}\n", f.error().message); return 1; }
  auto& h = f->description.habits;
  fmt::print("plan {} dist {} miss {} late {} oversleep {} accept {} between {} excess {}\n", h.plan, h.plan_distance, h.miss_overshoot.mean(), h.late_overshoot.mean(), h.prefetch_oversleep.mean(), h.accept_step, h.between_steps, f->description.link.excess.mean());
  for (auto* m : {&f->description.target, &f->description.drafts[0].program}) {
    fmt::print("{} ops {} blocks {} noise {} other {}\n", m->name, m->operations.size(), m->blocks.size(), m->noise.mean(), m->pass_other);
    for (auto& c : m->costs) { fmt::print("  {}:", c.name); for (auto& p : c.curve.points) fmt::print(" {}t={:.0f}({})", p.tokens, p.ns, p.samples); fmt::print("\n"); }
  }
  for (auto& r : f->recordings) for (auto& [k, x] : r.recorded) fmt::print("{} {} {} {:+.2f}%\n", k, x, r.simulated[k], 100 * (r.simulated[k] / x - 1));
}
