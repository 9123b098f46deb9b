// Brackets one operation of a pass: tells the observer and adds to the statistics. Internal to the model.
#pragma once

#include <time.h>

#include <cstdint>

#include "samples/engine/model/model.h"

namespace dmengine {

inline uint64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

class OpScope {
 public:
  OpScope(OpObserver* observer, ForwardStats* stats, const OpInfo& op) : observer_(observer), stats_(stats), op_(op) {
    if (observer_ != nullptr) observer_->op_begin(op_);
    if (stats_ != nullptr) begin_ = monotonic_nanoseconds();
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;
  ~OpScope() {
    if (stats_ != nullptr) {
      KernelTotals& totals = stats_->kernels[static_cast<size_t>(op_.kernel)];
      ++totals.calls;
      totals.nanoseconds += monotonic_nanoseconds() - begin_ - waited_;
      totals.flops += op_.flops;
      totals.bytes += op_.bytes;
      stats_->flops += op_.flops;
      stats_->acquire_nanoseconds += waited_;
    }
    if (observer_ != nullptr) observer_->op_end(op_);
  }

  // Runs `wait` and counts its time as waiting for blocks instead of as the kernel's.
  template <class Wait>
  auto waiting(Wait wait) {
    if (stats_ == nullptr) return wait();
    const uint64_t begin = monotonic_nanoseconds();
    auto result = wait();
    waited_ += monotonic_nanoseconds() - begin;
    return result;
  }

 private:
  OpObserver* observer_;
  ForwardStats* stats_;
  OpInfo op_;
  uint64_t begin_ = 0, waited_ = 0;
};

}  // namespace dmengine
