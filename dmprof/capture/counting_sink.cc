#include "dmprof/capture/counting_sink.h"

namespace dmprof::capture {

Result<std::uint32_t> CountingSink::add_process(const Process& process) {
  auto id = next_.add_process(process);
  if (id) ++processes_;
  return id;
}

Status CountingSink::add_loss(const Loss& loss) {
  DMPROF_TRY(next_.add_loss(loss));
  lost_ += loss.events;
  lost_by_cause_[loss.cause] += loss.events;
  return {};
}

Status CountingSink::accept(std::span<const Event> events) {
  Status taken = next_.accept(events);
  refused_ = refused_ || !taken;
  if (taken) events_ += events.size();
  return taken;
}

}  // namespace dmprof::capture
