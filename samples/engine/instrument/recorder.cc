#include "samples/engine/instrument/recorder.h"

#include <string>

#include "dmprof/base/version.h"

namespace dmengine {

Recorder::Recorder() {
  const std::string version(dmprof::version);
  const dmprof_options options{.engine = "dm-engine", .version = version.c_str(), .flags = 0};
  dmprof_init(&options);  // without a control page the engine decodes all the same, unobserved
  dmprof_thread_name("engine");
  track_ = dmprof_thread_track();
  for (std::size_t i = 0; i < stage_count; ++i) stages_[i] = dmprof_name(stage_names[i]);
  batch_.name = dmprof_name("batch_size");
  kv_.name = dmprof_name("kv_bytes");
  kv_usage_.name = dmprof_name("kv_cache_usage");
  resident_.name = dmprof_name("resident_bytes");
}

Recorder::~Recorder() {
  leave();
  dmprof_shutdown();
}

void Recorder::calibrate() {
  constexpr Ticks many = 1ULL << 32;
  ns_per_tick_ = dmprof_ticks_to_ns(many) / static_cast<double>(many);
}

Ticks Recorder::enter(Stage stage) {
  const Ticks moment = now();
  if (open_) stage_ticks_[static_cast<std::size_t>(stage_)] += moment - since_;
  dmprof_phase(track_, stages_[static_cast<std::size_t>(stage)]);
  open_ = true;
  stage_ = stage;
  since_ = moment;
  return moment;
}

void Recorder::leave() {
  if (!open_) return;
  stage_ticks_[static_cast<std::size_t>(stage_)] += now() - since_;
  dmprof_phase(track_, 0);
  open_ = false;
}

void Recorder::begin_step(std::uint64_t step, std::uint8_t phase) {
  step_.store(step, std::memory_order_relaxed);
  phase_.store(phase, std::memory_order_relaxed);
  dmprof_set_step(track_, step);
}

void Recorder::request(const dmprof_request_event& event) {
  RequestCounts& counts = counts_.requests;
  switch (event.point) {
    case DMPROF_ARRIVE:
      ++counts.arrived;
      break;
    case DMPROF_SCHEDULE:
      ++counts.scheduled;
      break;
    case DMPROF_FIRST_TOKEN:
      ++counts.first_tokens;
      break;
    case DMPROF_REQUEST_END:
      ++counts.ended;
      break;
    case DMPROF_REQUEST_FAIL:
      ++counts.failed;
      break;
    default:
      break;
  }
  dmprof_request(track_, &event);
}

void Recorder::step_done(const dmprof_step_event& event) {
  ++counts_.steps.steps;
  if (event.phase == DMPROF_PREFILL) ++counts_.steps.prefill_steps;
  counts_.steps.target_tokens += event.target_tokens;
  dmprof_step(track_, &event);
}

void Recorder::speculation(const dmprof_speculation_event& event) {
  SpeculationCounts& counts = counts_.speculation;
  ++counts.sequence_steps;
  if (event.drafted > 0) ++counts.drafting_steps;
  if (event.cut == DMPROF_CUT_BASELINE) ++counts.baseline_steps;
  counts.drafted += event.drafted;
  counts.verified += event.verified;
  counts.accepted += event.accepted;
  counts.emitted += event.emitted;
  dmprof_speculation(track_, &event);
}

void Recorder::kv_in_use(std::uint64_t bytes, std::uint64_t capacity) {
  counter(kv_, static_cast<double>(bytes));
  counter(kv_usage_, static_cast<double>(bytes) / static_cast<double>(capacity));
}

void Recorder::counter(Gauge& gauge, double value) {
  if (gauge.value == value) return;
  gauge.value = value;
  dmprof_counter(track_, gauge.name, value);
}

}  // namespace dmengine
