// dmprof plan: calculators that need no recording. Every figure is printed with its formula.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "analyzers/plan/batch.h"
#include "analyzers/plan/kv.h"
#include "analyzers/plan/window.h"
#include "analyzers/specdec/model.h"
#include "dmprof/base/quantity.h"
#include "dmprof/base/suggest.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/plan_sheet.h"
#include "dmprof/cli/plan_techniques.h"
#include "dmprof/cli/presets.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/cli/values.h"

namespace dmprof::cli {

namespace {

constexpr std::uint32_t most = 1u << 24;  // of any count on the command line
constexpr std::uint64_t most_positions = 64;

struct Flags {
  // machine
  std::string hardware, peak_flops, bandwidth;
  // kv
  std::string attention = "mha", memory = "128GB";
  std::uint32_t layers = 48, heads = 32, kv_heads = 8, head_size = 128, latent = 512, context = 131072, batch = 1;
  double element_bytes = 2, rope = 64;
  // window, roofline
  std::string latency = "10us", head_bytes = "1.2MB", slow;
  double hit_rate = 0.65, intensity = 2, rows = 4096, columns = 4096, tokens = 1;
  // lookahead, batch
  std::string acceptance = "0.8,0.8,0.8,0.8,0.8,0.8,0.8,0.8", verify, host = "0ms";
  double draft_cost = 0.1, parameters_b = 70, weight_bytes = 2;
  TechniqueFlags techniques;
};

Result<double> quantity(std::string_view flag, const std::string& text, Quantity kind) {
  auto value = parse_quantity(text, kind);
  if (!value) return fail(ErrorKind::usage, fmt::format("{}: {}", flag, value.error().message));
  return *value;
}

Status positive(std::string_view flag, double value) {
  if (std::isfinite(value) && value > 0) return {};
  return fail(ErrorKind::usage, fmt::format("{}: {} is not above 0", flag, value));
}

Result<plan::Roofline> machine_of(const Flags& flags) {
  plan::Roofline machine;
  const std::string name = flags.hardware.empty() && flags.peak_flops.empty() ? "h100" : flags.hardware;
  if (!name.empty()) {
    auto known = hardware_named("--hardware", name);
    if (!known) return tl::unexpected(known.error());
    machine = known->roofline(plan::Precision::fp16);
  }
  if (!flags.peak_flops.empty()) {
    auto peak = quantity("--peak-flops", flags.peak_flops, Quantity::compute);
    if (!peak) return tl::unexpected(peak.error());
    machine.peak_flops = *peak;
  }
  if (!flags.bandwidth.empty()) {
    auto bandwidth = quantity("--bandwidth", flags.bandwidth, Quantity::bandwidth);
    if (!bandwidth) return tl::unexpected(bandwidth.error());
    machine.bandwidth = *bandwidth;
  }
  DMPROF_TRY(positive("--peak-flops", machine.peak_flops));
  DMPROF_TRY(positive("--bandwidth", machine.bandwidth));
  return machine;
}

// "0.8,0.7": conditional acceptance by position.
Result<std::vector<double>> acceptance_of(const std::string& text) {
  auto words = split_names({text});
  if (!words) return tl::unexpected(words.error());
  if (words->size() > most_positions)
    return fail(ErrorKind::usage, fmt::format("--acceptance: at most {} positions", most_positions));
  std::vector<double> values;
  for (const std::string& word : *words) {
    auto value = parse_quantity(word, Quantity::ratio);
    if (!value) return fail(ErrorKind::usage, fmt::format("--acceptance: {}: {}", word, value.error().message));
    values.push_back(*value);
  }
  return values;
}

// "5=1.25,9=2": cost of verifying that many tokens, in one-token steps.
Result<specdec::VerifyCurve> verify_of(const std::string& text) {
  std::map<std::uint32_t, double> points;
  if (!text.empty()) {
    auto words = split_names({text});
    if (!words) return tl::unexpected(words.error());
    for (const std::string& word : *words) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos)
        return fail(ErrorKind::usage, fmt::format("--verify: {} is not TOKENS=COST, such as 5=1.25", word));
      auto tokens = parse_whole("--verify", word.substr(0, equals), 1, 4096);
      if (!tokens) return tl::unexpected(tokens.error());
      auto cost = parse_real("--verify", word.substr(equals + 1), 0, 1e6);
      if (!cost) return tl::unexpected(cost.error());
      points[static_cast<std::uint32_t>(*tokens)] = *cost;
    }
  }
  return specdec::VerifyCurve(points);
}

Result<plan::KvShape> shape_of(const Flags& flags) {
  plan::KvShape shape;
  const std::vector<std::string> known = {"mha", "gqa", "mla"};
  if (flags.attention == "gqa") {
    shape.attention = plan::Attention::gqa;
  } else if (flags.attention == "mla") {
    shape.attention = plan::Attention::mla;
  } else if (flags.attention != "mha") {
    return fail(ErrorKind::usage, fmt::format("--attention: there is no {}{}; there are mha, gqa and mla",
                                              flags.attention, did_you_mean(flags.attention, known)));
  }
  DMPROF_TRY(positive("--element-bytes", flags.element_bytes));
  if (!(flags.rope >= 0 && flags.rope < most)) return fail(ErrorKind::usage, "--rope: must be 0 or more");
  shape.layers = flags.layers, shape.heads = flags.heads, shape.kv_heads = flags.kv_heads,
  shape.head_size = flags.head_size;
  shape.latent = flags.latent, shape.rope = static_cast<std::uint64_t>(flags.rope),
  shape.element_bytes = flags.element_bytes;
  return shape;
}

Result<Sheet> kv(const Flags& flags) {
  auto shape = shape_of(flags);
  if (!shape) return tl::unexpected(shape.error());
  auto memory = quantity("--memory", flags.memory, Quantity::size);
  if (!memory) return tl::unexpected(memory.error());
  const double token = plan::kv_bytes_per_token(*shape), sequence = token * flags.context;
  constexpr std::array<std::string_view, 3> formulas = {"2 x layers x heads x head size x bytes an element",
                                                        "2 x layers x KV heads x head size x bytes an element",
                                                        "layers x (latent + rope) x bytes an element"};
  Sheet sheet{"kv", {}, {"context", "bytes", "sequences in memory"}, {"tokens", "B", "sequences"}, {}};
  sheet.figures = {
      {"kv_bytes_per_token", token, "B", std::string(formulas[static_cast<std::size_t>(shape->attention)])},
      {"kv_bytes_per_sequence", sequence, "B", fmt::format("x {} tokens", flags.context)},
      {"kv_bytes", sequence * flags.batch, "B",
       fmt::format("x {} sequences; weights and activations come on top", flags.batch)},
      {"sequences_that_fit", plan::sequences_that_fit(*shape, flags.context, *memory), "sequences",
       "whole ones, in " + flags.memory}};
  for (const double context : {4096.0, 32768.0, 131072.0, 1048576.0})
    sheet.rows.push_back({context, token * context, plan::sequences_that_fit(*shape, context, *memory)});
  return sheet;
}

Result<Sheet> techniques(const Flags& flags) {
  auto shape = shape_of(flags);
  if (!shape) return tl::unexpected(shape.error());
  auto memory = quantity("--memory", flags.memory, Quantity::size);
  if (!memory) return tl::unexpected(memory.error());
  return technique_sheet(*shape, flags.context, *memory, flags.techniques);
}

Result<Sheet> window(const Flags& flags) {
  auto machine = machine_of(flags);
  if (!machine) return tl::unexpected(machine.error());
  auto latency = quantity("--latency", flags.latency, Quantity::duration);
  if (!latency) return tl::unexpected(latency.error());
  auto head = quantity("--head-bytes", flags.head_bytes, Quantity::size);
  if (!head) return tl::unexpected(head.error());
  DMPROF_TRY(positive("--head-bytes", *head));
  DMPROF_TRY(positive("--intensity", flags.intensity));
  if (flags.hit_rate < 0 || flags.hit_rate > 1) return fail(ErrorKind::usage, "--hit-rate: must lie between 0 and 1");
  const double effective = plan::effective_bandwidth(*machine, flags.intensity, flags.hit_rate);
  Sheet sheet{"window", {}, {}, {}, {}};
  sheet.figures = {
      {"effective_bandwidth", effective, "B/s",
       "min(peak FLOP/s / intensity, bandwidth x hit rate); misses are served too, which it leaves out"},
      {"attention_window", plan::attention_window(effective, *latency, *head), "heads",
       "ceil(effective bandwidth x latency / bytes of a head): heads whose parameters can be streamed in time"}};
  if (!flags.slow.empty()) {
    auto slow = quantity("--slow", flags.slow, Quantity::bandwidth);
    if (!slow) return tl::unexpected(slow.error());
    DMPROF_TRY(positive("--slow", *slow));
    sheet.figures.push_back({"harmonic_bandwidth", plan::harmonic_bandwidth(machine->bandwidth, *slow, flags.hit_rate),
                             "B/s", "1 / (hit rate / bandwidth + (1 - hit rate) / slow): hits and misses both served"});
  }
  return sheet;
}

Result<Sheet> roofline(const Flags& flags) {
  auto machine = machine_of(flags);
  if (!machine) return tl::unexpected(machine.error());
  for (const auto& [flag, value] : {std::pair("--rows", flags.rows),
                                    {"--columns", flags.columns},
                                    {"--tokens", flags.tokens},
                                    {"--element-bytes", flags.element_bytes}})
    DMPROF_TRY(positive(flag, value));
  const double intensity = plan::ideal_intensity(flags.rows, flags.columns, flags.tokens, flags.element_bytes);
  Sheet sheet{"roofline", {}, {"tokens", "intensity", "attainable"}, {"tokens", "FLOP/B", "FLOP/s"}, {}};
  sheet.figures = {
      {"ridge_point", machine->ridge(), "FLOP/B", "peak FLOP/s / bandwidth"},
      {"operational_intensity", intensity, "FLOP/B",
       "2 m d t / (m d + d t + m t) / bytes an element, every element moved once"},
      {"attainable", machine->attainable(intensity), "FLOP/s", "min(peak, intensity x bandwidth)"},
      {"crossover_tokens", machine->crossover_tokens(flags.element_bytes), "tokens",
       "ridge x bytes a weight / 2: batch x (lookahead + 1) from which verification is bound by arithmetic"}};
  for (const double tokens : {1.0, 4.0, 16.0, 64.0, 256.0, 1024.0}) {
    const double each = plan::ideal_intensity(flags.rows, flags.columns, tokens, flags.element_bytes);
    sheet.rows.push_back({tokens, each, machine->attainable(each)});
  }
  return sheet;
}

Result<Sheet> lookahead(const Flags& flags) {
  auto acceptance = acceptance_of(flags.acceptance);
  if (!acceptance) return tl::unexpected(acceptance.error());
  auto verify = verify_of(flags.verify);
  if (!verify) return tl::unexpected(verify.error());
  if (flags.draft_cost < 0) return fail(ErrorKind::usage, "--draft-cost: must not be below 0");
  const specdec::Lookahead best = specdec::best_lookahead(*acceptance, *verify, flags.draft_cost);
  const double cost = verify->at(best.best + 1) + best.best * flags.draft_cost;
  Sheet sheet{
      "lookahead", {}, {"lookahead", "tokens per step", "cost", "speed-up"}, {"tokens", "tokens", "x", "x"}, {}};
  sheet.figures = {
      {"optimal_lookahead", static_cast<double>(best.best), "tokens",
       "argmax of E / (v(N+1) + N c); 0: speculation does not pay"},
      {"speculation_speedup", best.speedup.at(best.best), "x", fmt::format("at it, with c = {}", flags.draft_cost)}};
  if (const auto even = specdec::breakeven_acceptance(std::max(best.best, 1u),
                                                      best.best > 0 ? cost : verify->at(2) + flags.draft_cost))
    sheet.figures.push_back({"breakeven_acceptance", *even, "ratio",
                             "one acceptance for all positions at which the same lookahead gains nothing"});
  for (std::uint32_t n = 0; n <= acceptance->size(); ++n) {
    sheet.rows.push_back({static_cast<double>(n), specdec::expected_tokens(std::span(*acceptance).first(n)),
                          verify->at(n + 1) + n * flags.draft_cost, best.speedup.at(n)});
  }
  return sheet;
}

Result<Sheet> batch(const Flags& flags) {
  auto machine = machine_of(flags);
  if (!machine) return tl::unexpected(machine.error());
  auto acceptance = acceptance_of(flags.acceptance);
  if (!acceptance) return tl::unexpected(acceptance.error());
  auto shape = shape_of(flags);
  if (!shape) return tl::unexpected(shape.error());
  auto host = quantity("--host", flags.host, Quantity::duration);
  if (!host) return tl::unexpected(host.error());
  DMPROF_TRY(positive("--parameters", flags.parameters_b));
  DMPROF_TRY(positive("--weight-bytes", flags.weight_bytes));
  if (flags.draft_cost < 0) return fail(ErrorKind::usage, "--draft-cost: must not be below 0");
  const plan::Served served{flags.parameters_b * 1e9,           flags.weight_bytes, plan::kv_bytes_per_token(*shape),
                            static_cast<double>(flags.context), flags.draft_cost,   *host};
  constexpr std::array<std::uint64_t, 9> batches = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  Sheet sheet{"batch",
              {},
              {"batch", "best lookahead", "step", "throughput", "speed-up"},
              {"sequences", "tokens", "ns", "tokens/s", "x"},
              {}};
  sheet.figures = {{"crossover_tokens", machine->crossover_tokens(flags.weight_bytes), "tokens",
                    "batch x (lookahead + 1) from which verification is bound by arithmetic"}};
  for (const plan::BatchRow& row : plan::over_batches(served, *machine, *acceptance, batches))
    sheet.rows.push_back({static_cast<double>(row.batch), static_cast<double>(row.lookahead), row.step * 1e9,
                          row.tokens_per_s, row.speedup});
  return sheet;
}

using Calculator = Result<Sheet> (*)(const Flags&);

Result<ExitStatus> print(Calculator calculator, const Flags& flags, bool json) {
  auto sheet = calculator(flags);
  if (!sheet) return tl::unexpected(sheet.error());
  DMPROF_TRY(write_out(json ? sheet_json(*sheet) : sheet_text(*sheet, report::Style(wants_colour(stdout)))));
  return ExitStatus::done;
}

void declare_machine(const Syntax& app, Flags& flags) {
  app.text("--hardware", flags.hardware, "NAME|FILE",
           fmt::format("{} (h100), 16-bit peaks as their sources state them; or a profile (.yaml)",
                       fmt::join(hardware_names(), ", ")));
  app.text("--peak-flops", flags.peak_flops, "RATE", "such as 989TFLOP/s, in place of the preset's");
  app.text("--bandwidth", flags.bandwidth, "RATE", "such as 3.35TB/s, in place of the preset's");
}

void declare_shape(const Syntax& app, Flags& flags) {
  app.text("--attention", flags.attention, "KIND", "mha (default), gqa or mla");
  app.count("--layers", flags.layers, most, "N", "Layers (48)");
  app.count("--heads", flags.heads, most, "N", "Query heads (32)");
  app.count("--kv-heads", flags.kv_heads, most, "N", "Heads of keys and values, for gqa (8)");
  app.count("--head-size", flags.head_size, most, "N", "Elements of a head (128)");
  app.count("--latent", flags.latent, most, "N", "Cached elements a token and layer, for mla (512)");
  app.number("--rope", flags.rope, "N", "Beside it, for the position encoding (64)");
  app.number("--element-bytes", flags.element_bytes, "N", "Bytes an element (2)");
  app.count("--context", flags.context, most, "TOKENS", "Length of a sequence (131072)");
}

void declare_acceptance(const Syntax& app, Flags& flags) {
  app.text("--acceptance", flags.acceptance, "A,B…",
           "Conditional acceptance by position (0.8 eight times); measured: dmprof --metric acceptance_by_position");
  app.number("--draft-cost", flags.draft_cost, "C",
             "A draft token in one-token target steps (0.1); measured: draft_cost_ratio");
}

}  // namespace

DeclaredCommand declare_plan(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app =
      root.command("plan", "Calculators that need no recording: kv, kv-techniques, window, roofline, lookahead, batch");
  auto flags = std::make_shared<Flags>();
  app.flag("--json", shared->json, "Print JSON");
  std::vector<std::pair<Syntax, Calculator>> calculators;

  const Syntax kv_app = app.command("kv", "Bytes of the key-value cache by attention variant");
  declare_shape(kv_app, *flags);
  kv_app.count("--batch", flags->batch, most, "N", "Sequences at once (1)");
  kv_app.text("--memory", flags->memory, "SIZE", "Memory they must fit into (128GB)");
  calculators.emplace_back(kv_app, kv);

  const Syntax techniques_app = app.command(
      "kv-techniques", "What seven techniques would leave of the key-value cache, under stated assumptions");
  declare_shape(techniques_app, *flags);
  techniques_app.text("--memory", flags->memory, "SIZE", "Memory the caches must fit into (128GB)");
  declare_techniques(techniques_app, flags->techniques);
  calculators.emplace_back(techniques_app, techniques);

  const Syntax window_app =
      app.command("window", "Effective bandwidth, and the heads that can be streamed within a latency");
  declare_machine(window_app, *flags);
  window_app.number("--hit-rate", flags->hit_rate, "RATIO", "Of the fast tier (0.65)");
  window_app.number("--intensity", flags->intensity, "N", "Operational intensity, FLOP/B (2)");
  window_app.text("--latency", flags->latency, "TIME", "What may be waited (10us)");
  window_app.text("--head-bytes", flags->head_bytes, "SIZE", "Parameters of one attention head (1.2MB)");
  window_app.text("--slow", flags->slow, "RATE", "Bandwidth that misses are served with; adds the harmonic mix");
  calculators.emplace_back(window_app, window);

  const Syntax roofline_app = app.command("roofline", "Intensity of a matrix product against the ridge of a machine");
  declare_machine(roofline_app, *flags);
  roofline_app.number("--rows", flags->rows, "N", "Of the weights (4096)");
  roofline_app.number("--columns", flags->columns, "N", "Of the weights (4096)");
  roofline_app.number("--tokens", flags->tokens, "N", "Batch x verified tokens (1)");
  roofline_app.number("--element-bytes", flags->element_bytes, "N", "Bytes an element (2)");
  calculators.emplace_back(roofline_app, roofline);

  const Syntax lookahead_app = app.command("lookahead", "Best number of draft tokens a step");
  declare_acceptance(lookahead_app, *flags);
  lookahead_app.text("--verify", flags->verify, "N=COST,…",
                     "Cost of verifying N tokens in one-token steps (1 for every N); measured: verify_cost_ratio");
  calculators.emplace_back(lookahead_app, lookahead);

  const Syntax batch_app = app.command("batch", "Throughput and best lookahead over the batch");
  declare_machine(batch_app, *flags);
  declare_shape(batch_app, *flags);
  declare_acceptance(batch_app, *flags);
  batch_app.number("--parameters", flags->parameters_b, "BILLIONS", "Of the model (70)");
  batch_app.number("--weight-bytes", flags->weight_bytes, "N", "Bytes a weight (2)");
  batch_app.text("--host", flags->host, "TIME", "Of a step, not hidden behind the device (0ms)");
  calculators.emplace_back(batch_app, batch);

  return {
      app, [flags, shared, calculators]() -> Result<ExitStatus> {
        for (const auto& [syntax, calculator] : calculators) {
          if (syntax.typed()) return print(calculator, *flags, shared->json);
        }
        return fail(
            ErrorKind::usage,
            "plan needs one of kv, kv-techniques, window, roofline, lookahead, batch; dmprof plan --help lists them");
      }};
}

}  // namespace dmprof::cli
