#include "dmprof/cli/advice_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dmprof/report/format.h"
#include "dmprof/report/metric_json.h"

namespace dmprof::cli {

namespace {

using Json = nlohmann::ordered_json;
using report::printable;
using report::quantity;

std::string attention_text(const plan::KvShape& a) {
  switch (a.attention) {
    case plan::Attention::mha:
      return fmt::format("MHA with {} heads of {}", a.heads, a.head_size);
    case plan::Attention::gqa:
      return fmt::format("GQA with {} heads of {} over {} KV heads", a.heads, a.head_size, a.kv_heads);
    case plan::Attention::mla:
      return fmt::format("MLA with {} heads of {}, latent {} + {}", a.heads, a.head_size, a.latent, a.rope);
  }
  return "";
}

std::string model_text(const plan::ModelShape& m) {
  return fmt::format(
      "{:.3g} billion weights of {:g} bytes, {} layers, hidden {}, feed-forward {}, {}, {:g} bytes a cached "
      "element",
      plan::kept_weights(m) / 1e9, m.weight_bytes, m.attention.layers, m.hidden, m.feed_forward,
      attention_text(m.attention), m.attention.element_bytes);
}

std::string hardware_text(const plan::Hardware& h) {
  std::vector<std::string> peaks;
  for (std::size_t i = 0; i < h.peak_flops.size(); ++i) {
    if (h.peak_flops[i] > 0)
      peaks.push_back(fmt::format("{} {}", plan::precision_names[i], quantity(h.peak_flops[i], "FLOP/s")));
  }
  return fmt::format("{}{}, {}; {}: {}", h.memory_bytes > 0 ? quantity(h.memory_bytes, "B") + " at " : "",
                     quantity(h.bandwidth, "B/s"), fmt::join(peaks, ", "), h.basis, printable(h.source));
}

std::string bound_text(const plan::DecodeCost& cost) {
  const auto by = [](bool arithmetic) { return arithmetic ? "arithmetic" : "bandwidth"; };
  return fmt::format("weights {} ({} by {}), attention {} ({} by {})", quantity(cost.weight_time * 1e9, "ns"),
                     quantity(cost.weight_intensity(), "FLOP/B"), by(cost.weights_bound_by_arithmetic),
                     quantity(cost.attention_time * 1e9, "ns"), quantity(cost.attention_intensity(), "FLOP/B"),
                     by(cost.attention_bound_by_arithmetic));
}

std::string gain_text(const std::optional<plan::Gain>& gain) {
  if (!gain) return "unavailable";
  if (gain->high - gain->low < 0.005) return fmt::format("{:.2f} x", gain->low);
  return fmt::format("{:.2f} to {:.2f} x", gain->low, gain->high);
}

std::string sequences_text(double sequences) { return std::isnan(sequences) ? "-" : fmt::format("{:.0f}", sequences); }

using Line = std::array<std::string, 6>;

Line line_of(const Advice& advice, const Advised& one) {
  const plan::DecodeCost &now = advice.now, &then = one.cost;
  return {one.change.kind == "together" ? one.change.kind : one.change.what,
          fmt::format("{} ({:.2f} x)", quantity(then.intensity(), "FLOP/B"), then.intensity() / now.intensity()),
          fmt::format("{} ({:+.0f} %)", quantity(then.footprint(advice.load), "B"),
                      (then.footprint(advice.load) / now.footprint(advice.load) - 1) * 100),
          quantity(then.step() * 1e9, "ns"),
          gain_text(one.gain),
          sequences_text(then.sequences)};
}

std::string table(const std::vector<Line>& lines) {
  std::array<std::size_t, 6> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], report::display_width(line[i]));
  }
  std::string text;
  for (const Line& line : lines) {
    std::string row = "  ";
    for (std::size_t i = 0; i < line.size(); ++i)
      row += (i > 0 ? "  " : "") + report::padded(line[i], widths[i], i > 0);
    text += row + "\n";
  }
  return text;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json shape_json(const plan::ModelShape& m) {
  constexpr std::array<const char*, 3> kinds = {"mha", "gqa", "mla"};
  const plan::KvShape& a = m.attention;
  Json attention = {
      {"kind", kinds[static_cast<std::size_t>(a.attention)]}, {"heads", a.heads}, {"head_size", a.head_size}};
  if (a.attention == plan::Attention::mla) {
    attention["latent"] = a.latent, attention["rotary"] = a.rope;
  } else {
    attention["kv_heads"] = a.attention == plan::Attention::mha ? a.heads : a.kv_heads;
  }
  return {{"layers", a.layers},
          {"hidden", m.hidden},
          {"feed_forward", m.feed_forward},
          {"vocabulary", m.vocabulary},
          {"attention", attention},
          {"weight_bytes", m.weight_bytes},
          {"kv_bytes", a.element_bytes},
          {"parameters", plan::kept_weights(m)}};
}

Json cost_json(const plan::DecodeCost& cost, const plan::DecodeLoad& load) {
  return {{"operational_intensity", number(cost.intensity())},
          {"weight_intensity", number(cost.weight_intensity())},
          {"attention_intensity", number(cost.attention_intensity())},
          {"capacity_footprint", number(cost.footprint(load))},
          {"bytes_per_step", number(cost.weight_bytes + cost.kv_bytes)},
          {"flops_per_step", number(cost.weight_flops + cost.attention_flops)},
          {"step_time", number(cost.step() * 1e9)},
          {"sequences_that_fit", number(cost.sequences)}};
}

}  // namespace

std::string advice_text(const Advice& advice, const report::Style& style) {
  std::string text;
  if (!advice.run.empty()) text += advice.run + "\n";
  const auto head = [&](std::string_view name, const std::string& source, const std::string& what) {
    text += fmt::format("{}  {}{}\n", style.bold(fmt::format("{:<8}", name)),
                        source.empty() ? "" : printable(source) + ": ", what);
  };
  head("Model", advice.model_source, model_text(advice.model));
  head("Hardware", advice.hardware_source, hardware_text(advice.hardware));
  head("Load", advice.load_source,
       fmt::format("batch {:.3g}, tokens of a sequence in a pass {:.3g}, context {:.0f}", advice.load.batch,
                   advice.load.tokens, advice.load.context));
  head("Roofline", "", bound_text(advice.now));
  if (advice.measured) {
    head("Recorded", "",
         fmt::format("step {}, of it the target's pass {}", quantity(advice.measured->step * 1e9, "ns"),
                     quantity(advice.measured->pass * 1e9, "ns")));
  }
  if (advice.work) {
    const auto work = [](double intensity, double bytes) {
      return fmt::format("{}, {} a step", quantity(intensity, "FLOP/B"), quantity(bytes, "B"));
    };
    head("Check", "",
         fmt::format("{} recorded; {} by the model", work(advice.work->intensity, advice.work->bytes),
                     work(advice.now.intensity(), advice.now.weight_bytes + advice.now.kv_bytes)));
  }
  text += "\n";
  std::vector<Line> lines = {
      {"", "intensity (OI)", "a request (CF)", "roofline step", "faster", "sequences that fit"},
      {"as it is", quantity(advice.now.intensity(), "FLOP/B"), quantity(advice.now.footprint(advice.load), "B"),
       quantity(advice.now.step() * 1e9, "ns"), "", sequences_text(advice.now.sequences)}};
  for (const Advised& one : advice.changes) lines.push_back(line_of(advice, one));
  text += table(lines);
  if (advice.changes.empty()) text += "  nothing of what is looked at would change this model\n";
  for (const Advised& one : advice.changes) {
    text += fmt::format("\n{}\n  assumes {}\n  loses   {}\n", style.bold(one.change.what), one.change.assumes,
                        one.change.loses);
  }
  text += fmt::format(
      "\nOI: FLOP a byte of weights and KV read in a step. CF: (weights + KV of the batch) / batch, activations not "
      "counted.\nA step by the roofline: weights, then attention, each max(bytes / bandwidth, FLOP / peak).\nFaster: "
      "{}\n",
      advice.measured
          ? "the recorded step against what it becomes if the target's pass shrinks with its roofline, if all "
            "it takes beyond that stays, or if nothing hides its arithmetic."
          : "the rooflines' ratio, with arithmetic hidden behind transfers or not; what else a step takes is "
            "not in it.");
  for (const std::string& note : advice.notes) text += fmt::format("{} {}\n", style.warn("note:"), printable(note));
  return text;
}

std::string advice_json(const Advice& advice) {
  Json object;
  object["run"] = advice.run.empty() ? Json(nullptr) : Json(advice.run);
  object["model"] = shape_json(advice.model);
  object["model"]["source"] = advice.model_source;
  const plan::Hardware& h = advice.hardware;
  Json peaks = Json::object();
  for (std::size_t i = 0; i < h.peak_flops.size(); ++i) {
    if (h.peak_flops[i] > 0) peaks[std::string(plan::precision_names[i])] = h.peak_flops[i];
  }
  object["hardware"] = {{"name", h.name},
                        {"basis", h.basis},
                        {"source", h.source},
                        {"memory_bytes", h.memory_bytes > 0 ? Json(h.memory_bytes) : Json(nullptr)},
                        {"bandwidth", h.bandwidth},
                        {"peak_flops", peaks},
                        {"tile", h.tile > 0 ? Json(h.tile) : Json(nullptr)}};
  object["load"] = {{"batch", advice.load.batch},
                    {"tokens", advice.load.tokens},
                    {"context", advice.load.context},
                    {"source", advice.load_source}};
  object["recorded"] = {{"step_time", advice.measured ? Json(advice.measured->step * 1e9) : Json(nullptr)},
                        {"pass_time", advice.measured ? Json(advice.measured->pass * 1e9) : Json(nullptr)},
                        {"operational_intensity", advice.work ? number(advice.work->intensity) : Json(nullptr)},
                        {"bytes_per_step", advice.work ? number(advice.work->bytes) : Json(nullptr)}};
  object["now"] = cost_json(advice.now, advice.load);
  object["changes"] = Json::array();
  for (const Advised& one : advice.changes) {
    Json change = {{"kind", one.change.kind}, {"what", one.change.what}, {"model", shape_json(one.change.shape)}};
    change["predicted"] = cost_json(one.cost, advice.load);
    change["intensity_ratio"] = number(one.cost.intensity() / advice.now.intensity());
    change["footprint_ratio"] = number(one.cost.footprint(advice.load) / advice.now.footprint(advice.load));
    change["predicted_gain"] =
        one.gain ? Json{{"low", number(one.gain->low)}, {"high", number(one.gain->high)}} : Json(nullptr);
    change["assumes"] = one.change.assumes;
    change["loses"] = one.change.loses;
    object["changes"].push_back(std::move(change));
  }
  object["notes"] = advice.notes;
  return report::dump(object) + "\n";
}

}  // namespace dmprof::cli
