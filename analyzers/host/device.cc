// What the device does over time, and what it takes to make it do it: kernels, copies, launches.
#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "analyzers/host/host.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/reported.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

// Time during which kernels or copies of one unit ran, and the time looked at: decoding, or where no steps were
// recorded (traces of other tools) everything between the first and the last of them.
struct Activity {
  Intervals kernels, copies, time;
};
std::vector<Activity> activity_of(const View& view, const Scope& scope) {
  const Recording& recording = view.recording();
  std::vector<Activity> units(view.units());
  for (const Kernel& kernel : recording.kernels)
    units[view.unit_of(kernel.track)].kernels.push_back({kernel.start, end_of(kernel)});
  for (const Transfer& transfer : recording.transfers)
    units[view.unit_of(transfer.track)].copies.push_back({transfer.start, end_of(transfer)});
  for (std::size_t i = 0; i < units.size(); ++i) {
    Activity& unit = units[i];
    unit.kernels = unite(std::move(unit.kernels)), unit.copies = unite(std::move(unit.copies));
    unit.time = view.time_of_unit(scope, i);
    if (recording.steps.empty()) {
      Intervals all = unit.kernels;
      all.insert(all.end(), unit.copies.begin(), unit.copies.end());
      all = unite(std::move(all));
      unit.time = all.empty() ? all : clip({{all.front().begin, all.back().end}}, scope.range.value_or(TimeRange{}));
    }
    unit.kernels = intersect(unit.kernels, unit.time), unit.copies = intersect(unit.copies, unit.time);
  }
  return units;
}

enum class What { kernels, copies, both, either };

MetricValue busy(const View& view, const Scope& scope, What what) {
  const Recording& recording = view.recording();
  if (recording.kernels.empty() && what != What::copies)
    return unavailable(
        "no kernels are in the recording: neither the engine nor a collector (CUPTI, an imported trace) "
        "reported them");
  if (recording.transfers.empty() && what == What::copies) return unavailable(reasons::no_transfers());
  double busy_time = 0, wall = 0;
  for (const Activity& unit : activity_of(view, scope)) {
    Intervals time;
    if (what == What::kernels) time = unit.kernels;
    if (what == What::copies) time = unit.copies;
    if (what == What::both) time = intersect(unit.kernels, unit.copies);
    if (what == What::either) {
      time = unit.kernels;
      time.insert(time.end(), unit.copies.begin(), unit.copies.end());
      time = unite(std::move(time));
    }
    busy_time += static_cast<double>(total(time)), wall += static_cast<double>(total(unit.time));
  }
  if (wall <= 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value = scalar(busy_time / wall, recording.kernels.size() + recording.transfers.size());
  if (recording.steps.empty()) value.window = "first to last kernel or copy, no steps are recorded";
  return value;
}

MetricValue launches_per_step(const View& view, const Scope& scope) {
  std::set<std::uint64_t> steps;
  for (const Step& step : view.steps(scope)) steps.insert(step.step);
  if (steps.empty()) return unavailable(reasons::no_steps(view, scope));
  std::uint64_t launches = 0;
  for (const Kernel& kernel : view.recording().kernels) launches += steps.contains(kernel.step) ? 1 : 0;
  if (launches == 0) return unavailable("no kernels within steps");
  return scalar(static_cast<double>(launches) / static_cast<double>(steps.size()), launches);
}

}  // namespace

void register_device(Catalogue& catalogue) {
  const Events events = Events::kernels | Events::transfers | Events::steps | Events::speculation;
  const auto share = [&](const char* name, const char* definition, const char* needs, What what) {
    catalogue.add({.name = name,
                   .unit = "ratio",
                   .definition = std::string(definition) +
                                 " / wall time of decoding; without recorded steps from the first to the last of them",
                   .needs = needs,
                   .events = events,
                   .by = {By::window},
                   .compute = [what](const View& view, const Scope& scope) { return busy(view, scope, what); }});
  };
  share("device_busy_share", "time during which a kernel or a copy runs", "kernels (the engine, CUPTI, a trace)",
        What::either);
  share("kernel_busy_share", "time during which a kernel runs", "kernels (the engine, CUPTI, a trace)", What::kernels);
  share("copy_busy_share", "time during which a copy between tiers runs", "transfers", What::copies);
  share("copy_overlap_share", "time during which a kernel and a copy run", "kernels and transfers", What::both);
  catalogue.add({.name = "launches_per_step",
                 .unit = "1/step",
                 .definition = "kernels within decode steps / decode steps; far below the layer count where graph "
                               "replay hides kernels",
                 .needs = "kernels within steps",
                 .events = events,
                 .by = {By::window},
                 .compute = launches_per_step});
  catalogue.add({.name = "model_layers",
                 .unit = "layers",
                 .definition = "layers of the target model",
                 .needs = "environment model.layers",
                 .compute = reported::environment_value("model.layers")});
}

}  // namespace dmprof
