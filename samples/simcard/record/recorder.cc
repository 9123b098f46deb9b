#include "samples/simcard/record/recorder.h"

#include <algorithm>

#include "dmprof/base/version.h"

namespace dmprof::simcard {
namespace {

constexpr std::array stage_names = {"host", "prefill", "candidate_generation", "verification", "acceptance"};

std::uint32_t narrow(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, UINT32_MAX));
}

std::uint32_t publish() {
  const std::string version(dmprof::version);
  const dmprof_options options{.engine = "dm-simcard", .version = version.c_str(), .flags = DMPROF_LOSSLESS};
  dmprof_init(&options);  // without a control page the card runs all the same, unobserved
  return dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL);
}

}  // namespace

Recorder::Recorder(const CardParameters& parameters)
    : clock_(publish()),
      compute_(dmprof_track_create("compute", clock_, 0)),
      prefetch_(dmprof_track_create("prefetch", clock_, 0)),
      memory_(dmprof_track_create("memory", clock_, 0)),
      requests_(dmprof_track_create("requests", clock_, 0)),
      draft_(dmprof_name("draft_job")),
      prediction_(dmprof_name("path_prediction")),
      scheduling_(dmprof_name("prefetch_scheduling")),
      layer_(dmprof_name("layer")),
      batch_(dmprof_name("batch_size")),
      waiting_(dmprof_name("waiting")) {
  for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i] = dmprof_name(stage_names[i]);
  for (std::uint32_t i = 0; i < std::min(parameters.engine.engines, 64u); ++i) {
    const std::string name = "speculation engine " + std::to_string(i);
    engines_.push_back(dmprof_track_create(name.c_str(), clock_, 0));
  }
  register_capacities(parameters);
}

Recorder::~Recorder() {
  for (dmprof_track* track : engines_) dmprof_track_end(track);
  for (dmprof_track* track : {compute_, prefetch_, memory_, requests_}) dmprof_track_end(track);
  dmprof_shutdown();
}

void Recorder::register_capacities(const CardParameters& p) {
  const auto tier = [](const char* name, std::uint32_t rank, bool managed, std::uint64_t size, double bandwidth,
                       std::uint32_t units) {
    dmprof_capacity_info info{};
    info.name = name;
    info.kind = "tier";
    info.rank = rank;
    info.managed = managed ? 1 : 0;
    info.size_bytes = size;
    info.datasheet_bandwidth = bandwidth;
    info.measured_bandwidth = bandwidth;  // by construction
    info.units = units;
    return dmprof_capacity(&info);
  };
  l0_ = tier("l0", 0, false, p.memory.l0_bytes * p.compute.modules, 0, p.compute.modules);
  l1_ = tier("l1", 1, true, p.memory.l1_bytes, p.memory.l1_bandwidth, 1);
  l2_ = tier("l2", 2, false, p.memory.l2_bytes, p.memory.l2_bandwidth, p.memory.l2_channels);
  dmprof_capacity_info compute{};
  compute.name = "compute";
  compute.kind = "compute";
  compute.peak_flops = p.compute.peak_flops;
  compute.units = p.compute.modules;
  dmprof_capacity(&compute);
  dmprof_capacity_info engines{};
  engines.name = "speculation_engines";
  engines.kind = "speculation_engine";
  engines.units = p.engine.engines;
  engine_ = dmprof_capacity(&engines);
}

Recorder::Span Recorder::span(SimTime start, SimTime end) {
  return {nanoseconds(start), nanoseconds(std::max(start, end)) - nanoseconds(start)};
}

void Recorder::slice(dmprof_track* track, std::uint32_t name, SimTime start, SimTime end, std::uint64_t step,
                     std::uint64_t argument) {
  const Span time = span(start, end);
  dmprof_slice_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.name = name;
  event.step = step;
  event.argument = argument;
  dmprof_slice(track, &event);
}

void Recorder::on_request(RequestMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) {
  constexpr std::array<std::uint8_t, 4> points = {DMPROF_ARRIVE, DMPROF_SCHEDULE, DMPROF_FIRST_TOKEN,
                                                  DMPROF_REQUEST_END};
  dmprof_request_event event{};
  event.time = nanoseconds(time);
  event.request = request;
  event.point = points[static_cast<std::size_t>(moment)];
  event.tokens = tokens;
  dmprof_request(requests_, &event);
}

void Recorder::on_stage(Stage stage, SimTime start, SimTime end, std::uint64_t step) {
  slice(compute_, stages_[static_cast<std::size_t>(stage)], start, end, step);
}

void Recorder::on_engine(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) {
  if (engine < engines_.size()) slice(engines_[engine], draft_, start, end, 0, request);
}

void Recorder::on_prediction(SimTime start, SimTime scheduling, SimTime end, std::uint64_t step) {
  slice(prefetch_, prediction_, start, scheduling, step);
  slice(prefetch_, scheduling_, scheduling, end, step);
}

void Recorder::on_step(const StepReport& step) {
  const Span time = span(step.start, step.end);
  dmprof_step_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.step = step.step;
  event.phase = step.prefill ? DMPROF_PREFILL : DMPROF_DECODE;
  event.batch = step.batch;
  event.waiting = step.waiting;
  event.target_tokens = narrow(step.target_tokens);
  event.draft_time = nanoseconds(step.draft_time);
  event.verify_time = nanoseconds(step.verify_time);
  event.accept_time = nanoseconds(step.accept_time);
  event.parameter_bytes = step.parameter_bytes;
  event.kv_bytes = step.kv_bytes;
  event.flops = step.flops;
  dmprof_step(compute_, &event);
}

void Recorder::on_speculation(const SpeculationReport& report) {
  dmprof_speculation_event event{};
  event.time = nanoseconds(report.end);
  event.step = report.step;
  event.request = report.request;
  event.position = narrow(report.position);
  event.drafted = event.verified = event.tree_depth = event.tree_nodes = report.drafted;
  event.accepted = report.accepted;
  event.emitted = report.emitted;
  event.draft_type = report.drafted > 0 ? DMPROF_DRAFT_MODEL : DMPROF_DRAFT_NONE;
  event.draft_time = nanoseconds(report.draft_time);
  event.verify_time = nanoseconds(report.verify_time);
  event.accept_time = nanoseconds(report.accept_time);
  dmprof_speculation(compute_, &event);
}

void Recorder::on_access(const AccessReport& access) {
  const Span time = span(access.time, access.time + access.wait);
  dmprof_block_access_event event{};
  event.time = time.start;
  event.block = access.block;
  event.tier = access.tier == Tier::l0 ? l0_ : l1_;
  event.outcome = static_cast<std::uint8_t>(access.outcome);
  event.origin = static_cast<std::uint8_t>(access.origin);
  event.prediction = !access.predicted        ? DMPROF_PREDICTION_NONE
                     : access.predicted_right ? DMPROF_PREDICTION_RIGHT
                                              : DMPROF_PREDICTION_WRONG;
  event.phase = DMPROF_DECODE;
  event.bytes = narrow(access.bytes);
  event.wait = time.duration;
  event.step = access.step;
  dmprof_block_access(compute_, &event);
}

void Recorder::on_layer(const LayerReport& layer) {
  const Span time = span(layer.start, layer.end);
  dmprof_kernel_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.name = layer_;
  event.flops = layer.flops;
  event.bytes = layer.bytes;
  event.stall = std::min(time.duration, nanoseconds(layer.stall));
  event.step = layer.step;
  dmprof_kernel(compute_, &event);
  if (layer.l1_bytes > 0)
    transfer(memory_, l1_, l0_, {0, layer.end - layer.l1_time, layer.end, layer.l1_bytes, layer.l1_bytes, 1});
}

void Recorder::on_prefetch(const PrefetchNotice& notice, SimTime time) {
  constexpr std::array<std::uint8_t, 4> points = {DMPROF_PREFETCH_ISSUED, DMPROF_PREFETCH_COMPLETED,
                                                  DMPROF_PREFETCH_EVICTED_UNUSED, DMPROF_PREFETCH_DISPLACED};
  dmprof_prefetch_event event{};
  event.time = nanoseconds(time);
  event.block = notice.block;
  event.tier = l1_;
  event.point = points[static_cast<std::size_t>(notice.point)];
  event.bytes = narrow(notice.bytes);
  event.victim = notice.point == PrefetchPoint::displaced ? notice.victim + 1 : 0;
  dmprof_prefetch(prefetch_, &event);
}

void Recorder::transfer(dmprof_track* track, std::uint32_t from, std::uint32_t to, const BlockTransfer& transfer) {
  const Span time = span(transfer.start, transfer.end);
  dmprof_transfer_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.from = from;
  event.to = to;
  event.bytes = transfer.bytes;
  event.useful_bytes = transfer.useful;
  event.block = transfer.block;
  event.queue_depth = transfer.under_way;
  dmprof_transfer(track, &event);
}

void Recorder::on_block_transfer(const BlockTransfer& block) { transfer(prefetch_, l2_, l1_, block); }

void Recorder::on_stream(StreamKind kind, std::uint64_t bytes, SimTime start, SimTime end) {
  transfer(memory_, l2_, kind == StreamKind::draft ? engine_ : l0_, {0, start, end, bytes, bytes, 1});
}

void Recorder::on_queue(SimTime time, std::uint64_t batch, std::uint64_t waiting) {
  dmprof_clock_set(clock_, nanoseconds(time));
  dmprof_counter(requests_, batch_, static_cast<double>(batch));
  dmprof_counter(requests_, waiting_, static_cast<double>(waiting));
}

}  // namespace dmprof::simcard
