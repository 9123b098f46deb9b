#include "samples/simcard/card/workload.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dmprof/workload/trace.h"

namespace dmprof::simcard {
namespace {

using workload::Arrivals;
using workload::Lengths;

constexpr std::int64_t kLongest = 1 << 20;  // tokens of a prompt or an output
constexpr std::int64_t kMostUsers = 100'000;

struct Kind {
  std::string_view name;
  Arrivals::Kind kind;
  std::vector<std::string_view> keys;  // that say something only with it
};

const std::array<Kind, 5>& kinds() {
  static const std::array<Kind, 5> all{{
      {"closed", Arrivals::Kind::closed_loop, {"users", "think"}},
      {"poisson", Arrivals::Kind::poisson, {"rate"}},
      {"bursty", Arrivals::Kind::bursty, {"rate", "burst_factor", "burst_share", "burst_length"}},
      {"bursts", Arrivals::Kind::bursts, {"burst", "period"}},
      {"trace", Arrivals::Kind::trace, {"trace", "speed"}},
  }};
  return all;
}

const Kind& kind_of(const WorkloadParameters& w) {
  for (const Kind& each : kinds()) {
    if (each.kind == w.arrivals.kind) return each;
  }
  return kinds().front();
}

// A key that the chosen arrivals do not look at would be a setting without effect.
void refuse_idle_keys(Section& s, const Kind& chosen) {
  for (const Kind& each : kinds()) {
    for (const std::string_view key : each.keys) {
      if (!s.has(key) || std::find(chosen.keys.begin(), chosen.keys.end(), key) != chosen.keys.end()) continue;
      s.complain(key, fmt::format("says nothing where arrivals are {}, which look at {}; remove it or set arrivals",
                                  chosen.name, fmt::join(chosen.keys, ", ")));
    }
  }
}

void read_arrivals(Section& s, WorkloadParameters& w) {
  std::vector<std::string> names;
  std::size_t chosen = 0;
  const std::string_view before = s.has("trace") ? "trace" : kind_of(w).name;
  for (const Kind& each : kinds()) {
    if (each.name == before) chosen = names.size();
    names.emplace_back(each.name);
  }
  const Kind& kind = kinds()[s.choice("arrivals", names, chosen)];
  Arrivals& a = w.arrivals;
  a.kind = kind.kind;
  refuse_idle_keys(s, kind);
  s.integer("users", a.users, 1, kMostUsers, a.users);
  s.quantity("think", Quantity::duration, a.think_s, a.think_s);
  s.quantity("rate", Quantity::rate, a.rate, a.rate);
  s.quantity("burst_factor", Quantity::number, a.burst_factor, a.burst_factor);
  s.quantity("burst_share", Quantity::ratio, a.burst_share, a.burst_share);
  s.quantity("burst_length", Quantity::duration, a.burst_s, a.burst_s);
  s.integer("burst", a.burst, 1, kMostUsers, a.burst);
  s.quantity("period", Quantity::duration, a.period_s, a.period_s);
  s.quantity("speed", Quantity::number, w.trace_speed, w.trace_speed);
  if (const Status status = a.check(); !status && s.ok()) s.complain(kind.keys.front(), status.error().message);
}

void read_trace(Section& s, WorkloadParameters& w) {
  std::string file;
  s.text("trace", file, "");
  if (w.arrivals.kind != Arrivals::Kind::trace || !s.ok()) return;
  if (file.empty()) {
    if (w.trace == nullptr) s.complain("trace", "is missing; name a request trace (.csv or .jsonl)");
    return;
  }
  if (const Status read = use_trace(file, w); !read) s.complain("trace", read.error().message);
}

void read_lengths(Section& s, const std::string& name, bool traced, Lengths& lengths) {
  const std::array keys{name, name + "_lengths", name + "_spread", name + "_least", name + "_most"};
  if (traced) {
    for (const std::string& key : keys) {
      if (s.has(key)) s.complain(key, "stands beside a trace, which has the lengths; remove it");
    }
  }
  s.quantity(keys[0], Quantity::number, lengths.typical, lengths.typical);
  lengths.kind = static_cast<Lengths::Kind>(
      s.choice(keys[1], {"fixed", "uniform", "geometric", "lognormal"}, static_cast<std::size_t>(lengths.kind)));
  s.quantity(keys[2], Quantity::number, lengths.spread, lengths.spread);
  s.integer(keys[3], lengths.least, 1, kLongest, lengths.least);
  s.integer(keys[4], lengths.most, 1, kLongest, lengths.most);
  if (lengths.kind == Lengths::Kind::uniform && !(s.has(keys[3]) && s.has(keys[4])))
    s.complain(keys[1], fmt::format("needs both ends; write {} and {}", keys[3], keys[4]));
  if (const Status status = lengths.check(); !status && s.ok()) s.complain(keys[0], status.error().message);
}

}  // namespace

Status check(const WorkloadParameters& w) {
  DMPROF_TRY(w.arrivals.check());
  DMPROF_TRY(w.prompts.check());
  DMPROF_TRY(w.outputs.check());
  if (w.prompts.most > kLongest || w.outputs.most > kLongest)
    return fail(ErrorKind::bad_input,
                fmt::format("prompts and outputs beyond {} tokens do not fit a card; set shorter ones", kLongest));
  if (w.arrivals.kind == Arrivals::Kind::trace && (w.trace == nullptr || w.trace->empty()))
    return fail(ErrorKind::bad_input, "the workload is a trace and none was read; name one");
  if (!(w.trace_speed >= 1e-3) || w.trace_speed > 1e9)
    return fail(
        ErrorKind::bad_input,
        fmt::format(
            "a trace at {} times its speed is not possible; write a number from 0.001 to 1e9, such as 0.1 or 10",
            w.trace_speed));
  return {};
}

Status read_workload(Section s, WorkloadParameters& w) {
  read_arrivals(s, w);
  read_trace(s, w);
  const bool traced = w.arrivals.kind == Arrivals::Kind::trace;
  read_lengths(s, "prompt", traced, w.prompts);
  read_lengths(s, "output", traced, w.outputs);
  if (s.ok()) {
    if (const Status possible = check(w); !possible) s.complain("", possible.error().message);
  }
  return s.finish();
}

Status use_trace(const std::string& path, WorkloadParameters& w) {
  Result<workload::Trace> trace = workload::read_trace(path, kLongest);
  if (!trace) return tl::unexpected(trace.error());
  w.arrivals.kind = Arrivals::Kind::trace;
  w.trace = std::make_shared<const std::vector<workload::Request>>(std::move(trace->requests));
  return {};
}

workload::Source source_of(const WorkloadParameters& w, std::uint64_t seed, std::uint32_t index, std::uint32_t cards) {
  if (w.arrivals.kind != Arrivals::Kind::trace) {
    constexpr std::uint64_t stream = 0x6172726976616c73;  // "arrivals"
    return {w.arrivals, w.prompts, w.outputs, workload::mix(workload::mix(seed, stream), index)};
  }
  std::vector<workload::Request> mine;
  for (std::size_t i = index; i < w.trace->size(); i += cards) mine.push_back((*w.trace)[i]);
  return {std::move(mine), w.trace_speed};
}

}  // namespace dmprof::simcard
