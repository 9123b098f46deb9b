#include "samples/simcard/record/node_recorder.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "samples/simcard/record/session.h"

namespace dmprof::simcard {
namespace {

// The shape of a dense model, for advice about it; what a step reads of experts no shape says.
void register_model(const Model& model) {
  if (model.experts > 0) return;
  constexpr std::array<const char*, 3> kinds = {"mha", "gqa", "mla"};
  const auto fact = [](const char* name, const std::string& value) {
    const dmprof_knob info{
        .name = name, .value = value.c_str(), .type = "fact", .range = "", .how = "fact", .handle = "", .unit = ""};
    dmprof_knob_register(&info);
  };
  fact("model.name", model.name);
  fact("model.layers", fmt::format("{}", model.layers));
  fact("model.hidden", fmt::format("{}", model.hidden));
  fact("model.feed_forward", fmt::format("{}", model.feed_forward));
  fact("model.vocabulary", fmt::format("{}", model.vocabulary));
  fact("model.matrices", fmt::format("{}", model.matrices));
  fact("model.attention", kinds[static_cast<std::size_t>(model.attention)]);
  fact("model.heads", fmt::format("{}", model.heads));
  fact("model.kv_heads", fmt::format("{}", model.kv_heads));
  fact("model.head_size", fmt::format("{}", model.head_size));
  fact("model.latent", fmt::format("{}", model.latent));
  fact("model.rotary", fmt::format("{}", model.rotary));
  fact("model.weight_bytes", fmt::format("{:g}", model.weight_bytes));
  fact("model.kv_bytes", fmt::format("{:g}", model.kv_bytes));
}

constexpr std::uint32_t kMostTracks = 1024;  // of engines, and of nodes that prefill; the SDK has room for 4096

std::uint64_t whole(double bytes) {
  return bytes >= 0x1p63 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(std::max(0.0, bytes));
}

}  // namespace

NodeRecorder::NodeRecorder(const ServeSpec& spec, std::uint32_t clock) : clock_(clock) {
  names_ = {.draft = dmprof_name("draft_job"),
            .drafting = dmprof_name("candidate_generation"),
            .verification = dmprof_name("verification"),
            .host = dmprof_name("host"),
            .prefill = dmprof_name("prefill"),
            .pass = dmprof_name("pass"),
            .all_reduce = dmprof_name("all_reduce"),
            .all_to_all = dmprof_name("all_to_all"),
            .hops = dmprof_name("pipeline_hops"),
            .servers = dmprof_name("parameter_server"),
            .batch = dmprof_name("batch_size"),
            .waiting = dmprof_name("waiting"),
            .kv_usage = dmprof_name("kv_cache_usage"),
            .kv_bytes = dmprof_name("kv_bytes"),
            .energy = dmprof_name("energy_joules")};
  compute_ = track("compute");
  requests_ = track("requests");
  memory_ = track("memory");
  link_ = track("link");
  const std::uint32_t engines = draft_engines(spec.hardware);
  for (std::uint32_t i = 0; i < std::min(engines, kMostTracks); ++i)
    engines_.push_back(track(fmt::format("speculation engine {}", i)));
  for (std::uint32_t i = 0; spec.prefill == Prefill::apart &&
                            i < std::min(narrow(whole(static_cast<double>(spec.prefill_nodes))), kMostTracks);
       ++i)
    prefill_nodes_.push_back(track(fmt::format("prefill node {}", i)));
  register_capacities(spec);
  register_model(spec.model);
}

NodeRecorder::~NodeRecorder() {
  for (dmprof_track* each : tracks_) dmprof_track_end(each);
}

dmprof_track* NodeRecorder::track(const std::string& name) {
  return tracks_.emplace_back(dmprof_track_create(name.c_str(), clock_, 0));
}

void NodeRecorder::register_capacities(const ServeSpec& spec) {
  const Hardware& h = spec.hardware;
  const auto cards = static_cast<double>(h.cards);
  const std::uint32_t units = narrow(static_cast<std::uint64_t>(h.cards));
  memory_tier_ = register_tier("memory", 1, false, h.memory(), cards * h.bandwidth(), units);
  std::uint32_t rank = 2;
  for (const TierParameters& tier : h.tiers) {
    tiers_.push_back(
        register_tier(tier.name.c_str(), rank++, false, tier.capacity * tier.compression, tier.link.bandwidth, 1));
    tier_tracks_.push_back(track(tier.name));
  }
  dmprof_capacity_info link{};
  link.name = "link";
  link.kind = "link";
  link.datasheet_bandwidth = link.measured_bandwidth = cards * h.link.bandwidth;
  link.units = units;
  link_tier_ = dmprof_capacity(&link);
  compute_tier_ = register_compute(cards * h.compute(), units);
  register_engines(draft_engines(h));
}

void NodeRecorder::slice(dmprof_track* track, std::uint32_t name, SimTime start, SimTime end, std::uint64_t step,
                         std::uint64_t argument, std::uint32_t depth) {
  const NanosecondSpan time = nanosecond_span(start, end);
  dmprof_slice_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.name = name;
  event.depth = depth;
  event.step = step;
  event.argument = argument;
  dmprof_slice(track, &event);
}

void NodeRecorder::transfer(dmprof_track* track, std::uint32_t from, std::uint32_t to, SimTime start, SimTime end,
                            double bytes, double useful, double depth) {
  if (!(bytes > 0)) return;
  const NanosecondSpan time = nanosecond_span(start, end);
  dmprof_transfer_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.from = from;
  event.to = to;
  event.bytes = whole(bytes);
  event.useful_bytes = std::min(event.bytes, whole(useful));
  event.queue_depth = narrow(whole(depth));
  dmprof_transfer(track, &event);
}

void NodeRecorder::on_request(ServeMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) {
  constexpr std::array<std::uint8_t, 5> points = {DMPROF_ARRIVE, DMPROF_SCHEDULE, DMPROF_FIRST_TOKEN, DMPROF_PREEMPT,
                                                  DMPROF_REQUEST_END};
  dmprof_request_event event{};
  event.time = nanoseconds(time);
  event.request = request;
  event.point = points[static_cast<std::size_t>(moment)];
  event.tokens = tokens;
  dmprof_request(requests_, &event);
}

void NodeRecorder::on_draft(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) {
  slice(engines_[engine % engines_.size()], names_.draft, start, end, 0, request);
}

void NodeRecorder::on_prefill(std::uint32_t node, SimTime start, SimTime end, std::uint64_t request) {
  slice(prefill_nodes_[node % prefill_nodes_.size()], names_.prefill, start, end, 0, request);
}

void NodeRecorder::on_cache_sent(SimTime start, SimTime end, double bytes) {
  transfer(link_, link_tier_, memory_tier_, start, end, bytes, bytes, 1);
}

void NodeRecorder::tell_stages(const ServeStep& step, SimTime end, std::uint64_t id) {
  const SimTime pass = std::clamp(step.pass, step.verify, end);
  slice(compute_, names_.drafting, step.start, step.verify, id);
  slice(compute_, names_.verification, step.verify, pass, id);
  slice(compute_, names_.host, pass, end, id);
  if (step.prefill > 0) slice(compute_, names_.prefill, end, step.end, id + 1);
  const NanosecondSpan time = nanosecond_span(step.verify, pass);
  dmprof_kernel_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.name = names_.pass;
  event.flops = whole(step.cost.flops);
  event.bytes = whole(step.cost.memory_bytes + step.cost.cold_bytes);
  const SimTime waited = pass - step.verify - from_seconds(step.cost.total());  // for weights in tiers
  event.stall = std::min(time.duration, nanoseconds(std::max<SimTime>(0, waited)));
  event.step = id;
  dmprof_kernel(compute_, &event);
}

// What the cards say to each other, after one another behind the arithmetic of all layers: in truth it alternates with
// them layer by layer.
void NodeRecorder::tell_links(const ServeStep& step, std::uint64_t id) {
  SimTime at = std::min(step.pass, step.verify + from_seconds(step.cost.roofline));
  transfer(memory_, memory_tier_, compute_tier_, step.verify, at, step.cost.memory_bytes, step.cost.memory_bytes, 1);
  const SimTime began = at;
  const auto part = [&](std::uint32_t name, double seconds) {
    if (!(seconds > 0)) return;
    const SimTime end = std::min(step.pass, at + from_seconds(seconds));
    slice(link_, name, at, end, id);
    at = end;
  };
  part(names_.all_reduce, step.cost.all_reduce);
  part(names_.all_to_all, step.cost.all_to_all);
  part(names_.hops, step.cost.hops);
  part(names_.servers, step.cost.streaming);
  transfer(link_, link_tier_, compute_tier_, began, at, step.cost.link_bytes, step.cost.link_bytes, 1);
}

void NodeRecorder::on_step(const ServeStep& step, std::span<const ServeSpeculation> sequences) {
  const std::uint64_t id = steps_ + 1;
  steps_ += step.prefill > 0 ? 2 : 1;
  const SimTime end = std::max(step.verify, step.end - step.prefill);
  const NanosecondSpan time = nanosecond_span(step.start, end);
  dmprof_step_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.step = id;
  event.phase = DMPROF_DECODE;
  event.batch = narrow(sequences.size());
  event.waiting = narrow(step.waiting);
  event.target_tokens = narrow(whole(step.tokens * static_cast<double>(sequences.size())));
  event.draft_time = nanoseconds(step.verify) - std::min(nanoseconds(step.verify), time.start);
  event.verify_time = nanoseconds(std::clamp(step.pass, step.verify, end)) - nanoseconds(step.verify);
  event.parameter_bytes = whole(step.cost.memory_bytes + step.cost.cold_bytes - step.kv_bytes);
  event.kv_bytes = whole(step.kv_bytes);
  event.flops = whole(step.cost.flops);
  dmprof_step(compute_, &event);
  tell_stages(step, end, id);
  tell_links(step, id);
  if (step.prefill > 0) {
    const NanosecondSpan prompt = nanosecond_span(end, step.end);
    dmprof_step_event prefill{};
    prefill.start = prompt.start;
    prefill.duration = prefill.verify_time = prompt.duration;
    prefill.step = id + 1;
    prefill.phase = DMPROF_PREFILL;
    prefill.target_tokens = narrow(step.prompt_tokens);
    dmprof_step(compute_, &prefill);
  }
  for (const ServeSpeculation& each : sequences) {
    dmprof_speculation_event row{};
    row.time = nanoseconds(step.end);
    row.step = id;
    row.request = each.request;
    row.position = narrow(each.position);
    row.drafted = row.verified = row.tree_depth = row.tree_nodes = each.drafted;
    row.accepted = std::min(each.accepted, each.drafted);
    row.emitted = each.emitted;
    row.cut = each.emitted < each.accepted + 1 ? DMPROF_CUT_MAX_TOKENS : DMPROF_CUT_WHOLE;
    row.draft_type = each.drafted > 0 ? DMPROF_DRAFT_MODEL : DMPROF_DRAFT_NONE;
    row.draft_time = event.draft_time;
    row.verify_time = event.verify_time;
    dmprof_speculation(compute_, &row);
  }
}

void NodeRecorder::on_tier_transfer(const TierTransfer& t) {
  const std::uint32_t tier = tiers_[t.tier];
  transfer(tier_tracks_[t.tier], t.read ? tier : memory_tier_, t.read ? memory_tier_ : tier, t.start, t.end, t.moved,
           t.asked, t.requests);
}

void NodeRecorder::counter(std::uint32_t name, double value) { dmprof_counter(requests_, name, value); }

void NodeRecorder::on_queue(SimTime time, std::uint64_t active, std::uint64_t waiting) {
  dmprof_clock_set(clock_, nanoseconds(time));
  counter(names_.batch, static_cast<double>(active));
  counter(names_.waiting, static_cast<double>(waiting));
}

void NodeRecorder::on_gauges(SimTime time, double kv_used, double kv_room, double joules) {
  dmprof_clock_set(clock_, nanoseconds(time));
  counter(names_.kv_bytes, kv_used);
  if (kv_room > 0) counter(names_.kv_usage, std::clamp(kv_used / kv_room, 0.0, 1.0));
  counter(names_.energy, joules);
}

}  // namespace dmprof::simcard
