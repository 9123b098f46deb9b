#include "analyzers/plan/advise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace dmprof::plan {
namespace {

constexpr double four_bits = 0.5 + 2.0 / 32;  // with a 16-bit scale for every 32 elements
constexpr double roofline_slack = 1.3;        // a roofline that takes longer than this of the pass is another step's

double real(std::uint64_t number) { return static_cast<double>(number); }

Precision operands(double bytes) {
  if (bytes > 2) return Precision::fp32;
  if (bytes > 1.5) return Precision::fp16;
  return bytes > 0.75 ? Precision::fp8 : Precision::fp4;
}

// "in fp8", or that they are expanded first.
std::string multiplied_in(const Hardware& hardware, double bytes) {
  const Precision wanted = operands(bytes), used = hardware.computed_in(wanted);
  const auto name = [](Precision precision) { return precision_names[static_cast<std::size_t>(precision)]; };
  if (used == wanted) return fmt::format("multiplied in {}, so that activations are {} too", name(used), name(used));
  return fmt::format("expanded to {} before they are multiplied, at no cost: {} lists no {} peak", name(used),
                     hardware.name, name(wanted));
}

std::uint64_t rounded(std::uint64_t width, std::uint64_t tile, bool up) {
  return (up ? (width + tile - 1) / tile : std::max<std::uint64_t>(width / tile, 1)) * tile;
}

constexpr std::string_view no_quality = "what it does to quality is not predicted";

void add_attention(std::vector<Change>& all, const ModelShape& shape, const AdviceOptions& options) {
  const KvShape& now = shape.attention;
  if (now.attention == Attention::mha && options.kv_heads > 0 && options.kv_heads < now.heads &&
      now.heads % options.kv_heads == 0) {
    Change change{"attention", fmt::format("GQA with {} KV heads", options.kv_heads), "", "", shape};
    change.shape.attention.attention = Attention::gqa;
    change.shape.attention.kv_heads = options.kv_heads;
    change.assumes =
        fmt::format("{} query heads share each KV head; the projections of keys and values shrink with them",
                    now.heads / options.kv_heads);
    change.loses = fmt::format("the model has to be trained on with it; {}", no_quality);
    all.push_back(std::move(change));
  }
  if (now.attention == Attention::mla || options.latent == 0) return;
  Change change{"attention", fmt::format("MLA with a latent of {} + {}", options.latent, options.rotary), "", "",
                shape};
  KvShape& after = change.shape.attention;
  after.attention = Attention::mla;
  after.latent = options.latent, after.rope = options.rotary;
  if (kv_bytes_per_token(after) >= kv_bytes_per_token(now)) return;
  change.assumes =
      "one latent and one key for the positions a token and layer; the projections up are absorbed into queries and "
      "output, so that attention multiplies over the latent";
  change.loses = fmt::format(
      "a different model, to be trained or converted and tuned; attention multiplies {:.1f} times as much; {}",
      real(2 * after.latent + after.rope) / (2 * real(after.head_size)), no_quality);
  all.push_back(std::move(change));
}

void add_bits(std::vector<Change>& all, const ModelShape& shape, const Hardware& hardware) {
  for (const auto& [bits, bytes] : {std::pair(8, 1.0), {4, four_bits}}) {
    const std::string scales = bits == 4 ? ", with a 16-bit scale for every 32" : ", scales too few to count";
    if (shape.attention.element_bytes > bytes * 1.1) {
      Change change{"kv", fmt::format("{}-bit KV cache", bits), "", "", shape};
      change.shape.attention.element_bytes = bytes;
      change.assumes = fmt::format("{:g} byte{} an element{}; expanded to 16 bits inside attention at no cost", bytes,
                                   bits == 8 ? "" : "s", scales);
      change.loses = fmt::format("keys and values are rounded; {}", no_quality);
      all.push_back(std::move(change));
    }
    if (shape.weight_bytes > bytes * 1.1) {
      Change change{"weights", fmt::format("{}-bit weights", bits), "", "", shape};
      change.shape.weight_bytes = bytes;
      change.assumes = fmt::format("{:g} byte{} a weight{}; {}", bytes, bits == 8 ? "" : "s", scales,
                                   multiplied_in(hardware, bytes));
      change.loses = fmt::format("weights are rounded; {}", no_quality);
      all.push_back(std::move(change));
    }
  }
}

void add_widths(std::vector<Change>& all, const ModelShape& shape, const Hardware& hardware) {
  const std::uint64_t tile = hardware.tile;
  if (tile < 2) return;
  if (shape.feed_forward % tile != 0 || shape.vocabulary % tile != 0) {
    Change change{"widths", "", "", "", shape};
    change.shape.feed_forward = rounded(shape.feed_forward, tile, true);
    change.shape.vocabulary = shape.vocabulary == 0 ? 0 : rounded(shape.vocabulary, tile, true);
    change.what = fmt::format("widths up to whole tiles of {} (feed-forward {}, vocabulary {})", tile,
                              change.shape.feed_forward, change.shape.vocabulary);
    change.assumes =
        "the units work on whole tiles either way; that some kernels run only on whole tiles is not counted";
    change.loses = "memory for the padding; padded with zeros the model answers the same";
    all.push_back(std::move(change));
  }
  if (shape.feed_forward % tile != 0 && shape.feed_forward > tile) {
    Change change{"widths", "", "", "", shape};
    change.shape.feed_forward = rounded(shape.feed_forward, tile, false);
    change.what = fmt::format("feed-forward down to {} (whole tiles of {})", change.shape.feed_forward, tile);
    change.assumes = "the units work on whole tiles, so that the last, partly filled one is saved";
    change.loses = fmt::format("{} of {} inner units are pruned; {}", shape.feed_forward - change.shape.feed_forward,
                               shape.feed_forward, no_quality);
    all.push_back(std::move(change));
  }
}

void add_together(std::vector<Change>& all, const ModelShape& shape, const DecodeLoad& load, const Hardware& hardware) {
  Change together{"together", "", "each change as assumed above; they do not disturb one another",
                  "all of the above that apply", shape};
  std::vector<std::string> parts;
  const Change* best = nullptr;
  double shortest = decode_cost(shape, load, hardware).step();
  for (const Change& change : all) {
    if (change.kind != "attention") continue;
    const double step = decode_cost(change.shape, load, hardware).step();
    if (step < shortest) shortest = step, best = &change;
  }
  if (best != nullptr) {
    const double element = together.shape.attention.element_bytes;
    together.shape.attention = best->shape.attention;
    together.shape.attention.element_bytes = element;
    parts.push_back(best->what);
  }
  for (const Change& change : all) {
    const bool eight = change.what.starts_with("8-bit");
    if (change.kind == "kv" && eight) together.shape.attention.element_bytes = 1, parts.push_back(change.what);
    if (change.kind == "weights" && eight) together.shape.weight_bytes = 1, parts.push_back(change.what);
  }
  if (parts.size() < 2) return;
  together.what = fmt::format("together: {}", fmt::join(parts, ", "));
  all.push_back(std::move(together));
}

}  // namespace

DecodeCost decode_cost(const ModelShape& shape, const DecodeLoad& load, const Hardware& hardware) {
  const KvShape& attention = shape.attention;
  DecodeCost cost;
  const double rows = load.batch * load.tokens, weights = multiplied_weights(shape);
  const double sequence = kv_bytes_per_token(attention) * load.context;
  cost.weight_bytes = weights * shape.weight_bytes;
  cost.kv_bytes = sequence * load.batch;
  cost.weight_flops = 2 * weights * rows;
  const double widths = attention.attention == Attention::mla ? real(2 * attention.latent + attention.rope)
                                                              : 2 * real(attention.head_size);
  cost.attention_flops = 2 * real(attention.heads) * widths * real(attention.layers) * load.context * rows;
  const auto part = [&cost](double bytes, double flops, const Roofline& machine, bool& by_arithmetic) {
    const double arithmetic = flops / machine.peak_flops, transfer = bytes / machine.bandwidth;
    by_arithmetic = arithmetic > transfer;
    cost.serial += arithmetic + transfer;
    return std::max(arithmetic, transfer);
  };
  const double worked = 2 * multiplied_weights(shape, hardware.tile) * rows;
  cost.weight_time = part(cost.weight_bytes, worked, hardware.roofline(operands(shape.weight_bytes)),
                          cost.weights_bound_by_arithmetic);
  cost.attention_time =
      part(cost.kv_bytes, cost.attention_flops, hardware.roofline(Precision::fp16), cost.attention_bound_by_arithmetic);
  const double kept = kept_weights(shape) * shape.weight_bytes;
  cost.memory_bytes = kept + cost.kv_bytes;
  cost.sequences = std::numeric_limits<double>::quiet_NaN();
  if (hardware.memory_bytes > 0 && sequence > 0)
    cost.sequences = std::max(0.0, std::floor((hardware.memory_bytes - kept) / sequence));
  return cost;
}

std::vector<Change> changes(const ModelShape& shape, const DecodeLoad& load, const Hardware& hardware,
                            const AdviceOptions& options) {
  std::vector<Change> all;
  add_attention(all, shape, options);
  add_bits(all, shape, hardware);
  add_widths(all, shape, hardware);
  add_together(all, shape, load, hardware);
  return all;
}

std::optional<Gain> step_gain(const DecodeCost& before, const DecodeCost& after,
                              const std::optional<MeasuredStep>& measured) {
  const double ratio = before.step() / after.step();
  if (!measured) {
    const double serial = before.serial / after.serial;
    return Gain{std::min(ratio, serial), std::max(ratio, serial)};
  }
  const double pass = measured->pass, step = std::max(measured->step, pass);
  if (!(pass > 0) || before.step() > roofline_slack * pass) return std::nullopt;
  const double scale = std::min(1.0, pass / before.step());  // of peaks that are higher than stated
  const double roofline = scale * after.step(), beyond = pass - scale * before.step();
  const double unhidden = scale * after.serial + std::max(0.0, pass - scale * before.serial);
  const auto gain = [&](double pass_after) { return step / (step - pass + pass_after); };
  const auto [low, high] = std::minmax({gain(pass / ratio), gain(roofline + beyond), gain(unhidden)});
  return Gain{low, high};
}

}  // namespace dmprof::plan
