#include "samples/engine/instrument/kernel_recorder.h"

namespace dmengine {

void KernelRecorder::op_begin(const OpInfo&) {
  start_ = dmprof_enabled() != 0 ? recorder_.now() : 0;
  stall_ = recorder_.stalled();
}

void KernelRecorder::op_end(const OpInfo& op) {
  ++recorder_.counts().kernels;
  if (start_ == 0) return;
  dmprof_kernel_event event{};
  event.start = start_;
  event.duration = recorder_.now() - start_;
  event.name = name_of(op.name);
  event.flops = op.flops;
  event.bytes = op.bytes;
  event.stall = recorder_.stalled() - stall_;
  event.step = recorder_.step();
  dmprof_kernel(recorder_.track(), &event);
}

std::uint32_t KernelRecorder::name_of(const char* op) {
  for (const auto& [address, id] : names_) {
    if (address == op) return id;
  }
  names_.emplace_back(op, recorder_.name(prefix_ + op));
  return names_.back().second;
}

}  // namespace dmengine
