#include "dmprof/cli/recorded_model.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "dmprof/base/quantity.h"
#include "dmprof/report/format.h"

namespace dmprof::cli {

namespace {

constexpr double widest = 1 << 20;

// Reads facts; the first error stays.
class Facts {
 public:
  explicit Facts(const Recording& recording) : recording_(recording) {}

  double number(std::string_view name, double least, double most, std::optional<double> otherwise = std::nullopt) {
    const std::string* value = text(name, otherwise.has_value());
    if (value == nullptr) return otherwise.value_or(least);
    const std::optional<double> read = plain_number(*value);
    if (read && *read >= least && *read <= most) return *read;
    complain(ErrorKind::bad_input, fmt::format("model.{} is \"{}\" in the recording, which lies outside {:g} to {:g}; "
                                               "name the shape with --model",
                                               name, report::printable(value->substr(0, 40)), least, most));
    return least;
  }
  std::uint64_t whole(std::string_view name, double least, double most,
                      std::optional<double> otherwise = std::nullopt) {
    return static_cast<std::uint64_t>(std::floor(number(name, least, most, otherwise)));
  }
  const std::string* text(std::string_view name, bool optional = false) {
    const auto found = recording_.environment.find("model." + std::string(name));
    if (found != recording_.environment.end()) return &found->second;
    if (!optional)
      complain(
          ErrorKind::cannot_answer,
          fmt::format("the recording has no shape of the model (model.{}); name one with --model NAME or FILE.yaml, "
                      "as samples/simcard/models has them",
                      name));
    return nullptr;
  }
  void complain(ErrorKind kind, std::string message) {
    if (!error_) error_ = Error{kind, std::move(message)};
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Recording& recording_;
  std::optional<Error> error_;
};

}  // namespace

Result<plan::ModelShape> recorded_model(const Recording& recording) {
  Facts facts(recording);
  plan::ModelShape shape;
  plan::KvShape& attention = shape.attention;
  attention.layers = facts.whole("layers", 1, 100'000);
  shape.hidden = facts.whole("hidden", 1, widest);
  shape.feed_forward = facts.whole("feed_forward", 1, widest);
  shape.vocabulary = facts.whole("vocabulary", 0, 1e8, 0.0);
  shape.matrices = facts.whole("matrices", 2, 3, 3.0);
  shape.tied = facts.number("tied", 0, 1, 0.0) > 0;
  shape.weight_bytes = facts.number("weight_bytes", 0.01, 16);
  attention.element_bytes = facts.number("kv_bytes", 0.01, 16);
  attention.heads = facts.whole("heads", 1, widest);
  attention.head_size = facts.whole("head_size", 1, widest);
  const std::string* kind = facts.text("attention");
  if (kind != nullptr && *kind == "mla") {
    attention.attention = plan::Attention::mla;
    attention.latent = facts.whole("latent", 1, widest);
    attention.rope = facts.whole("rotary", 0, widest, 0.0);
  } else if (kind != nullptr && (*kind == "mha" || *kind == "gqa")) {
    attention.kv_heads = facts.whole("kv_heads", 1, widest);
    attention.attention = attention.kv_heads < attention.heads ? plan::Attention::gqa : plan::Attention::mha;
  } else if (kind != nullptr) {
    facts.complain(
        ErrorKind::bad_input,
        fmt::format("model.attention is \"{}\" in the recording, which is none of mha, gqa and mla; name the "
                    "shape with --model",
                    report::printable(kind->substr(0, 40))));
  }
  const std::string* name = facts.text("name", true);
  shape.name = name != nullptr ? *name : "";
  if (facts.error()) return tl::unexpected(*facts.error());
  return shape;
}

}  // namespace dmprof::cli
