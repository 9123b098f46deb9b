#include "samples/simcard/record/card_recorder.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "samples/simcard/record/session.h"

namespace dmprof::simcard {
namespace {

constexpr std::uint32_t kMostEngineTracks = 64;

}  // namespace

bool tracks_apart(std::uint32_t cards, std::uint32_t engines) {
  return engines <= kMostEngineTracks && std::uint64_t{cards} * (engines + 4) <= kMostTracks;
}

CardRecorder::CardRecorder(const RecordedNames& names, std::uint32_t index, std::uint32_t cards, std::uint32_t engines)
    : names_(names), index_(index), cards_(cards) {
  const bool apart = tracks_apart(cards, engines);
  compute_ = track("compute");
  prefetch_ = track("prefetch");
  memory_ = apart ? track("memory") : compute_;
  requests_ = apart ? track("requests") : compute_;
  if (apart) {
    for (std::uint32_t i = 0; i < engines; ++i) engines_.push_back(track(fmt::format("speculation engine {}", i)));
  } else {
    engines_.assign(engines, track("speculation engines"));
  }
}

CardRecorder::~CardRecorder() {
  for (dmprof_track* each : tracks_) dmprof_track_end(each);
}

dmprof_track* CardRecorder::track(const std::string& what) {
  const std::string name = cards_ == 1 ? what : fmt::format("card {}/{}", index_, what);
  return tracks_.emplace_back(dmprof_track_create(name.c_str(), names_.clock, 0));
}

void CardRecorder::slice(dmprof_track* track, std::uint32_t name, SimTime start, SimTime end, std::uint64_t step,
                         std::uint64_t argument) {
  const NanosecondSpan time = nanosecond_span(start, end);
  dmprof_slice_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.name = name;
  event.step = step_id(step);
  event.argument = argument;
  dmprof_slice(track, &event);
}

void CardRecorder::on_request(RequestMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) {
  constexpr std::array<std::uint8_t, 4> points = {DMPROF_ARRIVE, DMPROF_SCHEDULE, DMPROF_FIRST_TOKEN,
                                                  DMPROF_REQUEST_END};
  dmprof_request_event event{};
  event.time = nanoseconds(time);
  event.request = request;
  event.point = points[static_cast<std::size_t>(moment)];
  event.tokens = tokens;
  dmprof_request(requests_, &event);
}

void CardRecorder::on_stage(Stage stage, SimTime start, SimTime end, std::uint64_t step) {
  slice(compute_, names_.stages[static_cast<std::size_t>(stage)], start, end, step);
}

void CardRecorder::on_engine(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) {
  slice(engines_[engine], names_.draft, start, end, 0, request);
}

void CardRecorder::on_prediction(SimTime start, SimTime scheduling, SimTime end, std::uint64_t step) {
  slice(prefetch_, names_.prediction, start, scheduling, step);
  slice(prefetch_, names_.scheduling, scheduling, end, step);
}

void CardRecorder::on_step(const StepReport& step) {
  const NanosecondSpan time = nanosecond_span(step.start, step.end);
  dmprof_step_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.step = step_id(step.step);
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
  if (!step.prefill) ++batches_[step.batch];
}

void CardRecorder::on_speculation(const SpeculationReport& report) {
  dmprof_speculation_event event{};
  event.time = nanoseconds(report.end);
  event.step = step_id(report.step);
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

void CardRecorder::on_access(const AccessReport& access) {
  const NanosecondSpan time = nanosecond_span(access.time, access.time + access.wait);
  dmprof_block_access_event event{};
  event.time = time.start;
  event.block = block_id(access.block);
  event.tier = access.tier == AskedTier::l0 ? names_.l0 : names_.l1;
  event.outcome = static_cast<std::uint8_t>(access.outcome);
  event.origin = static_cast<std::uint8_t>(access.origin);
  event.prediction = !access.predicted        ? DMPROF_PREDICTION_NONE
                     : access.predicted_right ? DMPROF_PREDICTION_RIGHT
                                              : DMPROF_PREDICTION_WRONG;
  event.phase = DMPROF_DECODE;
  event.bytes = narrow(access.bytes);
  event.wait = time.duration;
  event.step = step_id(access.step);
  dmprof_block_access(compute_, &event);
}

void CardRecorder::on_layer(const LayerReport& layer) {
  const NanosecondSpan time = nanosecond_span(layer.start, layer.end);
  dmprof_kernel_event event{};
  event.start = time.start;
  event.duration = time.duration;
  event.name = names_.layer;
  event.flops = layer.flops;
  event.bytes = layer.bytes;
  event.stall = std::min(time.duration, nanoseconds(layer.stall));
  event.step = step_id(layer.step);
  dmprof_kernel(compute_, &event);
  if (layer.l1_bytes > 0)
    transfer(memory_, names_.l1, names_.l0,
             {0, layer.end - layer.l1_time, layer.end, layer.l1_bytes, layer.l1_bytes, 1});
}

void CardRecorder::on_prefetch(const PrefetchNotice& notice, SimTime time, std::uint64_t step) {
  constexpr std::array<std::uint8_t, 4> points = {DMPROF_PREFETCH_ISSUED, DMPROF_PREFETCH_COMPLETED,
                                                  DMPROF_PREFETCH_EVICTED_UNUSED, DMPROF_PREFETCH_DISPLACED};
  dmprof_prefetch_event event{};
  event.time = nanoseconds(time);
  event.block = block_id(notice.block);
  event.tier = names_.l1;
  event.point = points[static_cast<std::size_t>(notice.point)];
  event.bytes = narrow(notice.bytes);
  event.victim = notice.point == PrefetchPoint::displaced ? block_id(notice.victim) + 1 : 0;
  event.step = step_id(step);
  dmprof_prefetch(prefetch_, &event);
}

void CardRecorder::transfer(dmprof_track* track, std::uint32_t from, std::uint32_t to, const BlockTransfer& transfer) {
  const NanosecondSpan time = nanosecond_span(transfer.start, transfer.end);
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

void CardRecorder::on_block_transfer(const BlockTransfer& block) {
  BlockTransfer named = block;
  named.block = block_id(block.block);
  transfer(prefetch_, names_.l2, names_.l1, named);
}

void CardRecorder::on_stream(StreamKind kind, std::uint64_t bytes, SimTime start, SimTime end) {
  transfer(memory_, names_.l2, kind == StreamKind::draft ? names_.engine : names_.l0, {0, start, end, bytes, bytes, 1});
}

void CardRecorder::on_energy(SimTime time, double joules) {
  dmprof_clock_set(names_.clock, nanoseconds(time));
  dmprof_counter(requests_, names_.energy, joules);
}

void CardRecorder::on_queue(SimTime time, std::uint64_t batch, std::uint64_t waiting) {
  dmprof_clock_set(names_.clock, nanoseconds(time));
  dmprof_counter(requests_, names_.batch, static_cast<double>(batch));
  dmprof_counter(requests_, names_.waiting, static_cast<double>(waiting));
}

}  // namespace dmprof::simcard
