// Names every field of every event type once. Column encoding and decoding, SQL tables and CSV export are generated
// from this description, so a field exists everywhere or nowhere.
//
//   for_each_event_type([]<class E>() { … Describe<E>::table … });
//   for_each_field<Slice>([](const auto& field, std::size_t index) { … field.name, field.member … });
//
// Rules that keep old recordings readable: `kind` numbers and the order of `fields` never change; a new field goes to
// the end (chunks written before it existed read as the field's default).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "dmprof/event/event.h"
#include "dmprof/event/labels.h"

namespace dmprof {

// How a column is laid down in a chunk (dmprof/store/FORMAT.md, "Columns").
enum class Coding : std::uint8_t {
  plain,  // unsigned varint: small numbers, durations, sizes
  delta,  // zigzag varint of the difference from the row before: times, ids, block numbers, running step numbers
  real,   // double, bit for bit: XOR with the row before, bytes reversed, varint
};

// What a number stands for; decides units in exports and which table resolves an id to text.
enum class Meaning : std::uint8_t { number, time, duration, bytes, track, name, tier, label };

template <class E, class T>
struct Field {
  using Event = E;
  using Value = T;
  std::string_view name;
  T E::*member;
  Coding coding;
  Meaning meaning;
  std::string_view doc;  // one line, with the unit where there is one
};

template <class E, class T>
constexpr Field<E, T> field(std::string_view name, T E::*member, Coding coding, Meaning meaning, std::string_view doc) {
  return {name, member, coding, meaning, doc};
}

// Specialised for each event type: `kind` (stable number, from 1), `table` (SQL and CSV name), `doc`, `fields` (tuple
// of Field).
template <class E>
struct Describe;

template <>
struct Describe<Slice> {
  static constexpr std::uint8_t kind = 1;
  static constexpr std::string_view table = "slice";
  static constexpr std::string_view doc = "a named stretch of time on a track";
  static constexpr auto fields = std::make_tuple(
      field("track", &Slice::track, Coding::delta, Meaning::track, "track it lies on"),
      field("start", &Slice::start, Coding::delta, Meaning::time, "start, ns"),
      field("duration", &Slice::duration, Coding::plain, Meaning::duration, "length, ns"),
      field("name", &Slice::name, Coding::plain, Meaning::name, "what ran"),
      field("depth", &Slice::depth, Coding::plain, Meaning::number, "nesting level on its track, 0 = outermost"),
      field("step", &Slice::step, Coding::delta, Meaning::number, "decode step it belongs to, 0 = none"),
      field("argument", &Slice::argument, Coding::plain, Meaning::number, "defined by the emitter"));
};

template <>
struct Describe<Instant> {
  static constexpr std::uint8_t kind = 2;
  static constexpr std::string_view table = "instant";
  static constexpr std::string_view doc = "a named point in time";
  static constexpr auto fields =
      std::make_tuple(field("track", &Instant::track, Coding::delta, Meaning::track, "track it lies on"),
                      field("time", &Instant::time, Coding::delta, Meaning::time, "time, ns"),
                      field("name", &Instant::name, Coding::plain, Meaning::name, "what happened"),
                      field("argument", &Instant::argument, Coding::plain, Meaning::number, "defined by the emitter"));
};

template <>
struct Describe<Counter> {
  static constexpr std::uint8_t kind = 3;
  static constexpr std::string_view table = "counter";
  static constexpr std::string_view doc = "a value at a point in time";
  static constexpr auto fields = std::make_tuple(
      field("track", &Counter::track, Coding::delta, Meaning::track, "track it lies on"),
      field("time", &Counter::time, Coding::delta, Meaning::time, "time, ns"),
      field("name", &Counter::name, Coding::plain, Meaning::name, "which counter"),
      field("value", &Counter::value, Coding::real, Meaning::number, "value, in the counter's own unit"));
};

template <>
struct Describe<RequestEvent> {
  static constexpr std::uint8_t kind = 4;
  static constexpr std::string_view table = "request_event";
  static constexpr std::string_view doc = "one point in the life of a request";
  static constexpr auto fields = std::make_tuple(
      field("track", &RequestEvent::track, Coding::delta, Meaning::track, "track it lies on"),
      field("time", &RequestEvent::time, Coding::delta, Meaning::time, "time, ns"),
      field("request", &RequestEvent::request, Coding::delta, Meaning::number, "request number"),
      field("point", &RequestEvent::point, Coding::plain, Meaning::label, "which point"),
      field("tokens", &RequestEvent::tokens, Coding::plain, Meaning::number,
            "prompt tokens at arrive, computed so far at preempt, output tokens at end"),
      field("cached_tokens", &RequestEvent::cached_tokens, Coding::plain, Meaning::number,
            "prompt tokens served from a prefix cache, at schedule"),
      field("request_class", &RequestEvent::request_class, Coding::plain, Meaning::name, "class the emitter gave it"));
};

template <>
struct Describe<Step> {
  static constexpr std::uint8_t kind = 5;
  static constexpr std::string_view table = "step";
  static constexpr std::string_view doc = "one forward step of the target over the whole batch";
  static constexpr auto fields = std::make_tuple(
      field("track", &Step::track, Coding::delta, Meaning::track, "track it lies on"),
      field("start", &Step::start, Coding::delta, Meaning::time, "start, ns"),
      field("duration", &Step::duration, Coding::plain, Meaning::duration, "length, ns"),
      field("step", &Step::step, Coding::delta, Meaning::number, "step number, unique within the process, from 1"),
      field("phase", &Step::phase, Coding::plain, Meaning::label, "phase; a mixed batch is prefill"),
      field("batch", &Step::batch, Coding::plain, Meaning::number, "sequences in the batch"),
      field("waiting", &Step::waiting, Coding::plain, Meaning::number, "requests waiting for admission at the start"),
      field("target_tokens", &Step::target_tokens, Coding::plain, Meaning::number, "tokens the target computed"),
      field("draft_time", &Step::draft_time, Coding::plain, Meaning::duration, "candidate generation, ns"),
      field("verify_time", &Step::verify_time, Coding::plain, Meaning::duration, "target pass with its stalls, ns"),
      field("accept_time", &Step::accept_time, Coding::plain, Meaning::duration, "acceptance and sampling, ns"),
      field("parameter_bytes", &Step::parameter_bytes, Coding::plain, Meaning::bytes,
            "parameters the target pass read, B"),
      field("kv_bytes", &Step::kv_bytes, Coding::plain, Meaning::bytes, "KV the target pass read, B"),
      field("flops", &Step::flops, Coding::plain, Meaning::number, "model FLOPs of the target pass"));
};

template <>
struct Describe<SpeculationStep> {
  static constexpr std::uint8_t kind = 6;
  static constexpr std::string_view table = "speculation_step";
  static constexpr std::string_view doc = "what one step did for one request";
  static constexpr auto fields = std::make_tuple(
      field("track", &SpeculationStep::track, Coding::delta, Meaning::track, "track it lies on"),
      field("time", &SpeculationStep::time, Coding::delta, Meaning::time, "end of the step, ns"),
      field("step", &SpeculationStep::step, Coding::delta, Meaning::number, "joins step.step"),
      field("request", &SpeculationStep::request, Coding::delta, Meaning::number, "request number"),
      field("position", &SpeculationStep::position, Coding::delta, Meaning::number, "tokens in the sequence before it"),
      field("drafted", &SpeculationStep::drafted, Coding::plain, Meaning::number, "draft tokens generated"),
      field("verified", &SpeculationStep::verified, Coding::plain, Meaning::number, "draft tokens the target checked"),
      field("accepted", &SpeculationStep::accepted, Coding::plain, Meaning::number, "draft tokens kept"),
      field("emitted", &SpeculationStep::emitted, Coding::plain, Meaning::number, "tokens the request received"),
      field("draft_type", &SpeculationStep::draft_type, Coding::plain, Meaning::label, "who drafted"),
      field("tree_depth", &SpeculationStep::tree_depth, Coding::plain, Meaning::number, "levels of the tree"),
      field("tree_nodes", &SpeculationStep::tree_nodes, Coding::plain, Meaning::number, "nodes verified"),
      field("path", &SpeculationStep::path, Coding::plain, Meaning::number,
            "accepted path, 4 bits a level, lowest level first"),
      field("cut", &SpeculationStep::cut, Coding::plain, Meaning::label, "why it emitted less than accepted + 1"),
      field("draft_time", &SpeculationStep::draft_time, Coding::plain, Meaning::duration, "draft stage, ns, not split"),
      field("verify_time", &SpeculationStep::verify_time, Coding::plain, Meaning::duration,
            "verify stage, ns, not split"),
      field("accept_time", &SpeculationStep::accept_time, Coding::plain, Meaning::duration,
            "accept stage, ns, not split"));
};

template <>
struct Describe<BlockAccess> {
  static constexpr std::uint8_t kind = 7;
  static constexpr std::string_view table = "block_access";
  static constexpr std::string_view doc = "a demand access to a block of parameters or KV";
  static constexpr auto fields = std::make_tuple(
      field("track", &BlockAccess::track, Coding::delta, Meaning::track, "track it lies on"),
      field("time", &BlockAccess::time, Coding::delta, Meaning::time, "when the consumer asked, ns"),
      field("block", &BlockAccess::block, Coding::delta, Meaning::number, "block number"),
      field("tier", &BlockAccess::tier, Coding::plain, Meaning::tier, "managed tier that was asked"),
      field("outcome", &BlockAccess::outcome, Coding::plain, Meaning::label, "was it there"),
      field("origin", &BlockAccess::origin, Coding::plain, Meaning::label, "who brought the block"),
      field("prediction", &BlockAccess::prediction, Coding::plain, Meaning::label, "did the predictor name it as next"),
      field("phase", &BlockAccess::phase, Coding::plain, Meaning::label, "phase it belongs to"),
      field("bytes", &BlockAccess::bytes, Coding::plain, Meaning::bytes,
            "what the block takes in the tier, padding included, B"),
      field("wait", &BlockAccess::wait, Coding::plain, Meaning::duration, "time the consumer stood still, ns"),
      field("step", &BlockAccess::step, Coding::delta, Meaning::number, "decode step it belongs to, 0 = none"));
};

template <>
struct Describe<Prefetch> {
  static constexpr std::uint8_t kind = 8;
  static constexpr std::string_view table = "prefetch";
  static constexpr std::string_view doc = "one point in the life of a prefetch";
  static constexpr auto fields =
      std::make_tuple(field("track", &Prefetch::track, Coding::delta, Meaning::track, "track it lies on"),
                      field("time", &Prefetch::time, Coding::delta, Meaning::time, "time, ns"),
                      field("block", &Prefetch::block, Coding::delta, Meaning::number, "block number"),
                      field("tier", &Prefetch::tier, Coding::plain, Meaning::tier, "destination"),
                      field("point", &Prefetch::point, Coding::plain, Meaning::label, "which point"),
                      field("bytes", &Prefetch::bytes, Coding::plain, Meaning::bytes, "size of the block, B"),
                      field("victim", &Prefetch::victim, Coding::delta, Meaning::number,
                            "block that `completed` evicted, plus 1; 0 = none"),
                      field("step", &Prefetch::step, Coding::delta, Meaning::number, "decode step, 0 = none"));
};

template <>
struct Describe<Transfer> {
  static constexpr std::uint8_t kind = 9;
  static constexpr std::string_view table = "transfer";
  static constexpr std::string_view doc = "bytes that moved from one tier to another";
  static constexpr auto fields = std::make_tuple(
      field("track", &Transfer::track, Coding::delta, Meaning::track, "track it lies on"),
      field("start", &Transfer::start, Coding::delta, Meaning::time, "start, ns"),
      field("duration", &Transfer::duration, Coding::plain, Meaning::duration, "length, ns"),
      field("from_tier", &Transfer::from, Coding::plain, Meaning::tier, "source tier"),
      field("to_tier", &Transfer::to, Coding::plain, Meaning::tier, "destination tier"),
      field("bytes", &Transfer::bytes, Coding::plain, Meaning::bytes, "bytes moved, B"),
      field("useful_bytes", &Transfer::useful_bytes, Coding::plain, Meaning::bytes, "bytes somebody asked for, B"),
      field("block", &Transfer::block, Coding::delta, Meaning::number, "block number"),
      field("queue_depth", &Transfer::queue_depth, Coding::plain, Meaning::number,
            "requests in flight on the link when it started, itself included"));
};

template <>
struct Describe<Kernel> {
  static constexpr std::uint8_t kind = 10;
  static constexpr std::string_view table = "kernel";
  static constexpr std::string_view doc = "a piece of computation";
  static constexpr auto fields =
      std::make_tuple(field("track", &Kernel::track, Coding::delta, Meaning::track, "track it lies on"),
                      field("start", &Kernel::start, Coding::delta, Meaning::time, "start, ns"),
                      field("duration", &Kernel::duration, Coding::plain, Meaning::duration, "length, ns"),
                      field("name", &Kernel::name, Coding::plain, Meaning::name, "which kernel"),
                      field("flops", &Kernel::flops, Coding::plain, Meaning::number, "floating-point operations"),
                      field("bytes", &Kernel::bytes, Coding::plain, Meaning::bytes, "memory traffic, B"),
                      field("stall", &Kernel::stall, Coding::plain, Meaning::duration, "waiting for blocks, ns"),
                      field("step", &Kernel::step, Coding::delta, Meaning::number, "decode step, 0 = none"));
};

template <>
struct Describe<AggregateSample> {
  static constexpr std::uint8_t kind = 11;
  static constexpr std::string_view table = "aggregate_sample";
  static constexpr std::string_view doc = "a figure that its source aggregated over a window of time";
  static constexpr auto fields = std::make_tuple(
      field("track", &AggregateSample::track, Coding::delta, Meaning::track, "source it comes from"),
      field("start", &AggregateSample::start, Coding::delta, Meaning::time, "start of the window, ns"),
      field("duration", &AggregateSample::duration, Coding::plain, Meaning::duration, "length of the window, ns"),
      field("name", &AggregateSample::name, Coding::plain, Meaning::name, "what was measured"),
      field("labels", &AggregateSample::labels, Coding::plain, Meaning::name, "which series of it"),
      field("statistic", &AggregateSample::statistic, Coding::plain, Meaning::label, "what the value is"),
      field("bound", &AggregateSample::bound, Coding::real, Meaning::number,
            "upper bound of a bucket, or which quantile; else 0"),
      field("value", &AggregateSample::value, Coding::real, Meaning::number, "value, in the source's own unit"));
};

template <class E>
inline constexpr std::size_t field_count = std::tuple_size_v<std::remove_cvref_t<decltype(Describe<E>::fields)>>;

namespace detail {
template <class E, class Function, std::size_t... I>
constexpr void for_each_field(Function&& function, std::index_sequence<I...>) {
  (function(std::get<I>(Describe<E>::fields), I), ...);
}
template <class Function, std::size_t... I>
constexpr void for_each_event_type(Function&& function, std::index_sequence<I...>) {
  (function.template operator()<std::variant_alternative_t<I, Event>>(), ...);
}
template <class A, class B>
constexpr bool same_member(A a, B b) {
  if constexpr (std::is_same_v<A, B>) {
    return a == b;
  } else {
    return false;
  }
}
template <auto Member, class E, std::size_t... I>
constexpr std::size_t field_index(std::index_sequence<I...>) {
  std::size_t index = sizeof...(I);
  ((same_member(Member, std::get<I>(Describe<E>::fields).member) ? void(index = I) : void()), ...);
  return index;
}
template <auto Member>
struct MemberOf;
template <class E, class T, T E::*Member>
struct MemberOf<Member> {
  using Event = E;
  using Value = T;
};
}  // namespace detail

// Calls function(field, index) for each field of E, in order.
template <class E, class Function>
constexpr void for_each_field(Function&& function) {
  detail::for_each_field<E>(std::forward<Function>(function), std::make_index_sequence<field_count<E>>());
}

// Calls function.template operator()<E>() for each event type: pass `[&]<class E>() { … }`.
template <class Function>
constexpr void for_each_event_type(Function&& function) {
  detail::for_each_event_type(std::forward<Function>(function), std::make_index_sequence<std::variant_size_v<Event>>());
}

// Position of a member in Describe<E>::fields: field_index<&Slice::duration> is 2.
template <auto Member>
inline constexpr std::size_t field_index = detail::field_index<Member, typename detail::MemberOf<Member>::Event>(
    std::make_index_sequence<field_count<typename detail::MemberOf<Member>::Event>>());

template <class E>
concept HasDuration = requires(const E& event) {
  event.start;
  event.duration;
};
template <class E>
concept HasName = requires(const E& event) {
  event.name;
};

// Start of an event, ns.
template <class E>
constexpr TimeNs begin_of(const E& event) {
  if constexpr (HasDuration<E>) {
    return event.start;
  } else {
    return event.time;
  }
}

// Saturating sum: a hostile or broken emitter's duration must not overflow. A negative duration counts as 0.
constexpr TimeNs add_duration(TimeNs start, TimeNs duration) {
  if (duration <= 0) return start;
  TimeNs end = 0;
  return __builtin_add_overflow(start, duration, &end) ? INT64_MAX : end;
}

// End of an event, ns; its time for events without a duration.
template <class E>
constexpr TimeNs end_of(const E& event) {
  if constexpr (HasDuration<E>) {
    return add_duration(event.start, event.duration);
  } else {
    return event.time;
  }
}

}  // namespace dmprof
