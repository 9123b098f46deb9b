// What a metric is, and what its value is. One metric = one name, one unit, one definition that travels with every
// value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/registry/recording.h"

namespace dmprof {

class View;  // view.h
struct Scope;

enum class MetricKind {
  scalar,        // `value`
  distribution,  // `value` is the mean, `spread` the percentiles
  array,         // `parts`, one per position, bucket or id, in order; `value` is empty
  shares,        // `parts` that sum to `value`
};
enum class Direction { none, higher_is_better, lower_is_better };
enum class ValueStatus { ok, unavailable, invalid };
enum class By { request, layer, tier, position, phase, window };

std::string_view to_text(MetricKind);
std::string_view to_text(Direction);
std::string_view to_text(ValueStatus);
std::string_view to_text(By);
std::optional<By> parse_by(std::string_view);

struct Spread {
  double p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};

struct ConfidenceInterval {  // bootstrap, 95 %, fixed seed
  double low = 0, high = 0;
};

struct Part {
  std::string name;  // "1" (position), "memory_stall" (share), "request 7"
  double value = 0;
  std::uint64_t samples = 0;
  bool critical = false;  // time budget: a part of the step worth shortening (its definition says when)
  std::optional<ConfidenceInterval> interval = {};
};

// A figure that belongs beside the value: the datasheet peak, the predicted speed-up, the count of steps cut short.
struct Beside {
  std::string name;
  std::string unit;
  double value = 0;
};

struct MetricValue;

struct ByRow {
  std::string key;                 // "request 3", "backing", "prefill", "0.0-1.2 s"
  std::vector<MetricValue> value;  // exactly one
};

struct MetricValue {
  std::string name;
  std::string unit;
  std::string definition;
  MetricKind kind = MetricKind::scalar;
  Direction direction = Direction::none;
  ValueStatus status = ValueStatus::unavailable;
  std::string reason;           // why not ok; with ok: a remark such as an assumption, or ""
  std::optional<double> value;  // set when ok, except for arrays
  std::uint64_t samples = 0;
  std::string window;   // what was looked at: "decode, without 1 warm-up step"
  std::string subject;  // the tier, position or part the value is about, where it has one
  std::optional<Spread> spread;
  std::optional<ConfidenceInterval> interval;
  std::vector<Part> parts;
  std::vector<Beside> beside;
  std::vector<ByRow> by;

  bool ok() const { return status == ValueStatus::ok; }
  const Part* part(std::string_view name) const;
};

MetricValue unavailable(std::string reason);
MetricValue scalar(double value, std::uint64_t samples);

// Objectives given with --slo, in nanoseconds; an absent one is not asked for.
struct Objectives {
  std::optional<TimeNs> ttft, itl, tpot, e2e;
  bool any() const { return ttft || itl || tpot || e2e; }
};

struct Metric {
  std::string name;
  std::string unit;
  std::string definition;
  std::string needs;             // for people: what a recording must hold
  Events events = Events::none;  // for the loader
  MetricKind kind = MetricKind::scalar;
  Direction direction = Direction::none;
  std::vector<By> by = {};                   // breakdowns it supports
  std::vector<std::string> part_names = {};  // of shares: the parts every value has, for rules to read
  // What the value does not leave out although most do (view.h); its window says so.
  bool keeps_warm_up = false;
  bool keeps_baseline = false;
  // --by window divides the whole run, not only the time of decoding: a request's arrival and end lie outside of that.
  bool windows_of_run = false;
  // Fills everything but name, unit, definition, kind and direction. Never throws on any recording.
  std::function<MetricValue(const View&, const Scope&)> compute;
};

// Hash of name, unit and definition: a stored value whose hash differs is computed again.
std::string definition_hash(const Metric&);

}  // namespace dmprof
