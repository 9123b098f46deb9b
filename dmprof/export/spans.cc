#include "dmprof/export/spans.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace dmprof::exporting {

namespace {

Argument number(std::string_view name, std::uint64_t value) { return {name, static_cast<std::int64_t>(value), {}}; }
Argument word(std::string_view name, std::string_view text) { return {name, 0, text}; }

}  // namespace

SpanText SpanOf<Slice>::describe(const Slice& event, const Names& names) {
  SpanText text;
  text.name = names.name(event.name);
  if (event.step != 0) text.arguments.push_back(number("step", event.step));
  if (event.argument != 0) text.arguments.push_back(number("argument", event.argument));
  return text;
}

SpanText SpanOf<Instant>::describe(const Instant& event, const Names& names) {
  SpanText text;
  text.name = names.name(event.name);
  if (event.argument != 0) text.arguments.push_back(number("argument", event.argument));
  return text;
}

SpanText SpanOf<Step>::describe(const Step& event, const Names&) {
  SpanText text;
  text.name = label(event.phase);
  text.arguments = {number("step", event.step),           number("batch", event.batch),
                    number("waiting", event.waiting),     number("target_tokens", event.target_tokens),
                    {"draft_ns", event.draft_time, {}},   {"verify_ns", event.verify_time, {}},
                    {"accept_ns", event.accept_time, {}}, number("parameter_bytes", event.parameter_bytes),
                    number("kv_bytes", event.kv_bytes),   number("flops", event.flops)};
  return text;
}

SpanText SpanOf<Kernel>::describe(const Kernel& event, const Names& names) {
  SpanText text;
  text.name = names.name(event.name);
  text.arguments = {number("flops", event.flops),
                    number("bytes", event.bytes),
                    {"stall_ns", event.stall, {}},
                    number("step", event.step)};
  return text;
}

SpanText SpanOf<Transfer>::describe(const Transfer& event, const Names& names) {
  SpanText text;
  text.name.append(names.tier(event.from)).append(" to ").append(names.tier(event.to));
  text.arguments = {number("bytes", event.bytes), number("useful_bytes", event.useful_bytes),
                    number("block", event.block), number("queue_depth", event.queue_depth)};
  return text;
}

SpanText SpanOf<BlockAccess>::describe(const BlockAccess& event, const Names& names) {
  SpanText text;
  text.name = label(event.outcome);
  text.instant = event.wait <= 0;
  text.arguments = {number("block", event.block),        word("tier", names.tier(event.tier)),
                    word("origin", label(event.origin)), word("prediction", label(event.prediction)),
                    number("bytes", event.bytes),        number("step", event.step)};
  return text;
}

SpanText SpanOf<SpeculationStep>::describe(const SpeculationStep& event, const Names&) {
  SpanText text;
  text.name = "accepted " + std::to_string(event.accepted) + " of " + std::to_string(event.verified);
  text.arguments = {number("request", event.request),   number("step", event.step),
                    number("position", event.position), number("drafted", event.drafted),
                    number("emitted", event.emitted),   word("draft", label(event.draft_type)),
                    word("cut", label(event.cut))};
  return text;
}

SpanText SpanOf<Prefetch>::describe(const Prefetch& event, const Names& names) {
  SpanText text;
  text.name = label(event.point);
  text.arguments = {number("block", event.block), word("tier", names.tier(event.tier)), number("bytes", event.bytes),
                    number("step", event.step)};
  if (event.victim != 0) text.arguments.push_back(number("victim", event.victim - 1));
  return text;
}

std::vector<RequestSpan> request_spans(const std::vector<RequestEvent>& events) {
  struct Life {
    std::optional<TimeNs> arrive, schedule, first_token, end;
    TimeNs first = 0, last = 0;
    std::uint64_t prompt = 0, output = 0, preemptions = 0;
  };
  std::map<std::pair<TrackId, std::uint64_t>, Life> lives;
  for (const RequestEvent& event : events) {
    const auto [place, fresh] = lives.try_emplace({event.track, event.request});
    Life& life = place->second;
    if (fresh) life.first = event.time;
    life.last = std::max(life.last, event.time);
    switch (event.point) {
      case RequestPoint::arrive:
        life.arrive = event.time;
        life.prompt = event.tokens;
        break;
      case RequestPoint::schedule:
        if (!life.schedule) life.schedule = event.time;  // again after a preemption
        break;
      case RequestPoint::first_token:
        life.first_token = event.time;
        break;
      case RequestPoint::preempt:
        ++life.preemptions;
        break;
      case RequestPoint::end:
      case RequestPoint::fail:
        life.end = event.time;
        life.output = event.tokens;
        break;
    }
  }
  std::vector<RequestSpan> spans;
  for (const auto& [key, life] : lives) {
    RequestSpan span;
    span.track = key.first;
    span.start = life.first;
    span.end = std::max(life.first, life.last);
    span.name = "request " + std::to_string(key.second);
    span.arguments = {number("request", key.second), number("prompt_tokens", life.prompt),
                      number("output_tokens", life.output), number("preemptions", life.preemptions)};
    const auto part = [&](std::string_view name, const std::optional<TimeNs>& from, const std::optional<TimeNs>& to) {
      if (from && to && *from <= *to) span.parts.push_back({name, *from, *to});
    };
    part("queued", life.arrive, life.schedule);
    part("prefill", life.schedule, life.first_token);
    part("decode", life.first_token, life.end);
    spans.push_back(std::move(span));
  }
  std::stable_sort(spans.begin(), spans.end(), [](const RequestSpan& a, const RequestSpan& b) {
    return std::tuple(a.track, a.start, -a.end) < std::tuple(b.track, b.start, -b.end);
  });
  return spans;
}

}  // namespace dmprof::exporting
