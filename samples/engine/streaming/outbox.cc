#include "samples/engine/streaming/outbox.h"

namespace dmengine {

void Outbox::deliver() {
  for (const auto& notice : notices_) {
    if (const auto* access = std::get_if<StreamAccess>(&notice)) {
      observer_->on_access(*access);
    } else if (const auto* transfer = std::get_if<StreamTransfer>(&notice)) {
      observer_->on_transfer(*transfer);
    } else if (const auto* prefetch = std::get_if<StreamPrefetch>(&notice)) {
      observer_->on_prefetch(*prefetch);
    } else if (const auto* stage = std::get_if<Stage>(&notice)) {
      observer_->on_stage(stage->stage, stage->start, stage->duration, stage->mark);
    }
  }
  notices_.clear();
}

}  // namespace dmengine
