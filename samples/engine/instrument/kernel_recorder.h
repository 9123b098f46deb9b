// One kernel event for each operation of a forward pass (a matrix product, an attention, a norm of one layer).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "samples/engine/instrument/recorder.h"
#include "samples/engine/model/model.h"

namespace dmengine {

// Set as a model's observer; called on the engine thread. With nobody attached it only counts.
class KernelRecorder : public OpObserver {
 public:
  // `prefix` tells the models apart: "" for the target, "draft." for the draft. The recorder must outlive this.
  KernelRecorder(Recorder& recorder, std::string prefix) : recorder_(recorder), prefix_(std::move(prefix)) {}

  void op_begin(const OpInfo& op) override;
  void op_end(const OpInfo& op) override;

 private:
  std::uint32_t name_of(const char* op);

  Recorder& recorder_;
  std::string prefix_;
  std::vector<std::pair<const char*, std::uint32_t>> names_;  // about ten; found by address
  Ticks start_ = 0;                                           // 0: nobody was attached when the operation began
  Ticks stall_ = 0;
};

}  // namespace dmengine
