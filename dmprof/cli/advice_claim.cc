#include "dmprof/cli/advice_claim.h"

#include <fmt/format.h>

#include "dmprof/cli/advice.h"
#include "dmprof/cli/presets.h"

namespace dmprof::cli {

namespace {

constexpr double claimed_intensity = 2.3, claimed_footprint = -0.40, claimed_speed = 3;
constexpr double batch = 8;

std::string residual(double value, double claim) { return fmt::format("{:+.0f} %", (value / claim - 1) * 100); }

std::string row(const Advice& advice, std::string_view model, const Advised& one) {
  const double intensity = one.cost.intensity() / advice.now.intensity();
  const double footprint = one.cost.footprint(advice.load) / advice.now.footprint(advice.load) - 1;
  const double speed = advice.now.step() / one.cost.step();
  return fmt::format("| {} | {:.0f} | {} | {:.2f} x | {} | {:+.0f} % | {:+.0f} points | {:.2f} x | {} |\n", model,
                     advice.load.context, one.change.what, intensity, residual(intensity, claimed_intensity),
                     footprint * 100, (footprint - claimed_footprint) * 100, speed, residual(speed, claimed_speed));
}

}  // namespace

Result<std::string> claim_text() {
  std::string text = fmt::format(
      "Claim: a 70B model fitted to a B200: OI {:.1f} x, CF {:+.0f} %, {:.0f} x faster. It names neither the changes "
      "nor "
      "the load; nothing here was fitted to it.\nHere: 16-bit models, batch {:.0f}, one token a pass, the datasheet's "
      "peaks, each change alone at 32K and all contexts together.\n\n"
      "| model | context | change | OI | against the claim | CF | against it | faster | against it |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      claimed_intensity, claimed_footprint * 100, claimed_speed, batch);
  auto hardware = hardware_named("--hardware", "b200");
  if (!hardware) return tl::unexpected(hardware.error());
  for (const char* name : {"dense-70b-mha", "dense-70b"}) {
    auto model = model_named("--model", name);
    if (!model) return tl::unexpected(model.error());
    for (const double context : {4096.0, 32768.0, 131072.0}) {
      const Advice advice = advise(*model, *hardware, {batch, 1, context}, {});
      for (const Advised& one : advice.changes) {
        if (context == 32768 || one.change.kind == "together") text += row(advice, name, one);
      }
    }
  }
  return text;
}

}  // namespace dmprof::cli
