#include "dmprof/report/metric_json.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace dmprof::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr int deepest_breakdown = 2;  // a breakdown's rows have none of their own

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <class Enum, std::size_t N>
std::optional<Enum> parse_word(const Json& object, const char* key, const std::array<Enum, N>& choices) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  for (const Enum choice : choices) {
    if (to_text(choice) == found->get<std::string>()) return choice;
  }
  return std::nullopt;
}

// Typed access that refuses instead of throwing; `ok` collects whether every field was what it must be.
struct Fields {
  const Json& object;
  bool ok = true;

  std::string text(const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return "";
    if (!found->is_string()) ok = false;
    return found->is_string() ? found->get<std::string>() : "";
  }
  double number(const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number()) {
      ok = false;
      return 0;
    }
    return found->get<double>();
  }
  std::uint64_t count(const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned()) {
      ok = false;
      return 0;
    }
    return found->get<std::uint64_t>();
  }
  std::optional<ConfidenceInterval> interval(const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return std::nullopt;
    if (!found->is_object()) {
      ok = false;
      return std::nullopt;
    }
    Fields ends{*found};
    const ConfidenceInterval interval{ends.number("low"), ends.number("high")};
    ok = ok && ends.ok;
    return interval;
  }
  const Json* array(const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return nullptr;
    if (!found->is_array()) ok = false;
    return found->is_array() ? &*found : nullptr;
  }
};

bool read_parts(Fields& fields, MetricValue& value) {
  const Json* parts = fields.array("parts");
  for (std::size_t i = 0; parts != nullptr && i < parts->size(); ++i) {
    const Json& one = (*parts)[i];
    if (!one.is_object()) return false;
    Fields part{one};
    value.parts.push_back({part.text("name"), part.number("value"), part.count("samples"),
                           one.value("critical", Json(false)) == Json(true), part.interval("ci95")});
    if (!part.ok) return false;
  }
  const Json* beside = fields.array("beside");
  for (std::size_t i = 0; beside != nullptr && i < beside->size(); ++i) {
    const Json& one = (*beside)[i];
    if (!one.is_object()) return false;
    Fields figure{one};
    value.beside.push_back({figure.text("name"), figure.text("unit"), figure.number("value")});
    if (!figure.ok) return false;
  }
  return true;
}

Json to_json(const ConfidenceInterval& interval) {
  return {{"low", number_or_null(interval.low)}, {"high", number_or_null(interval.high)}};
}

Json to_json(const MetricValue& value) {
  Json object;
  object["name"] = value.name;
  object["value"] = value.value && value.ok() ? number_or_null(*value.value) : Json(nullptr);
  object["unit"] = value.unit;
  object["samples"] = value.samples;
  object["definition"] = value.definition;
  object["status"] = to_text(value.status);
  object["reason"] = value.reason;
  object["kind"] = to_text(value.kind);
  object["direction"] = to_text(value.direction);
  object["window"] = value.window;
  if (!value.subject.empty()) object["subject"] = value.subject;
  if (value.spread) {
    object["p50"] = number_or_null(value.spread->p50);
    object["p90"] = number_or_null(value.spread->p90);
    object["p95"] = number_or_null(value.spread->p95);
    object["p99"] = number_or_null(value.spread->p99);
    object["max"] = number_or_null(value.spread->max);
  }
  if (value.interval) object["ci95"] = to_json(*value.interval);
  for (const Part& part : value.parts) {
    Json one = {{"name", part.name}, {"value", number_or_null(part.value)}, {"samples", part.samples}};
    if (value.kind == MetricKind::shares) one["critical"] = part.critical;
    if (part.interval) one["ci95"] = to_json(*part.interval);
    object["parts"].push_back(std::move(one));
  }
  for (const Beside& beside : value.beside) {
    object["beside"].push_back({{"name", beside.name}, {"unit", beside.unit}, {"value", number_or_null(beside.value)}});
  }
  for (const ByRow& row : value.by) {
    if (row.value.empty()) continue;
    Json one = {{"key", row.key}};
    one.update(to_json(row.value.front()));
    object["by"].push_back(std::move(one));
  }
  return object;
}

std::optional<MetricValue> from_json(const Json& object, int depth);

bool read_breakdown(Fields& fields, MetricValue& value, int depth) {
  const Json* rows = fields.array("by");
  for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
    const Json& row = (*rows)[i];
    if (!row.is_object() || depth >= deepest_breakdown) return false;
    auto inner = from_json(row, depth + 1);
    Fields key{row};
    ByRow by{key.text("key"), {}};
    if (!inner || !key.ok) return false;
    by.value.push_back(std::move(*inner));
    value.by.push_back(std::move(by));
  }
  return true;
}

std::optional<MetricValue> from_json(const Json& object, int depth) {
  if (!object.is_object()) return std::nullopt;
  const auto status =
      parse_word(object, "status", std::array{ValueStatus::ok, ValueStatus::unavailable, ValueStatus::invalid});
  const auto kind = parse_word(
      object, "kind", std::array{MetricKind::scalar, MetricKind::distribution, MetricKind::array, MetricKind::shares});
  const auto direction = parse_word(
      object, "direction", std::array{Direction::none, Direction::higher_is_better, Direction::lower_is_better});
  if (!status || !kind || !direction) return std::nullopt;
  Fields fields{object};
  MetricValue value;
  value.status = *status;
  value.kind = *kind;
  value.direction = *direction;
  value.name = fields.text("name");
  value.unit = fields.text("unit");
  value.definition = fields.text("definition");
  value.reason = fields.text("reason");
  value.window = fields.text("window");
  value.subject = fields.text("subject");
  value.samples = fields.count("samples");
  if (const auto found = object.find("value"); found != object.end() && !found->is_null())
    value.value = fields.number("value");
  if (object.contains("p50")) {
    value.spread = Spread{fields.number("p50"), fields.number("p90"), fields.number("p95"), fields.number("p99"),
                          fields.number("max")};
  }
  value.interval = fields.interval("ci95");
  if (!read_parts(fields, value) || !read_breakdown(fields, value, depth) || !fields.ok) return std::nullopt;
  // A stored value passes the same gate as a computed one: no "ok" without a value, where the kind has one.
  if (value.ok() && value.kind != MetricKind::array && !value.value) return std::nullopt;
  return value;
}

}  // namespace

std::string metric_json(const MetricValue& value) { return dump(to_json(value), -1); }

std::string metrics_json(std::string_view run, std::span<const MetricValue> values, std::string_view note) {
  Json object;
  object["run"] = run;
  object["metrics"] = Json::array();
  for (const MetricValue& value : values) object["metrics"].push_back(to_json(value));
  if (!note.empty()) object["note"] = note;
  return dump(object) + "\n";
}

std::optional<MetricValue> parse_metric(std::string_view json, std::string_view name) {
  const Json object = Json::parse(json, nullptr, false);
  if (object.is_discarded()) return std::nullopt;
  auto value = from_json(object, 0);
  if (!value || value->name != name) return std::nullopt;
  return value;
}

std::string catalogue_json(std::span<const Metric> metrics) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Metric& metric : metrics) {
    nlohmann::ordered_json by = nlohmann::ordered_json::array();
    for (const By one : metric.by) by.push_back(to_text(one));
    list.push_back({{"name", metric.name},
                    {"unit", metric.unit},
                    {"definition", metric.definition},
                    {"needs", metric.needs},
                    {"kind", to_text(metric.kind)},
                    {"direction", to_text(metric.direction)},
                    {"by", by}});
  }
  return dump(nlohmann::ordered_json{{"metrics", list}}) + "\n";
}

std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

}  // namespace dmprof::report
