#include "samples/simcard/card/arrivals.h"

#include <algorithm>

namespace dmprof::simcard {

Source::Source(Simulation& simulation, const WorkloadParameters& workload, std::uint64_t seed, std::uint32_t index,
               Card& card)
    : simulation_(simulation), workload_(workload), random_(seed, "arrivals", index), card_(card) {}

void Source::begin() {
  if (workload_.arrivals == Arrivals::closed) {
    for (std::uint32_t i = 0; i < workload_.users; ++i) send();
    return;
  }
  simulation_.after(0, *this, next);
}

void Source::send() {
  const double spread = workload_.output_spread * (2 * random_.uniform() - 1);
  const auto output = static_cast<std::uint32_t>(std::max(1.0, workload_.output * (1 + spread) + 0.5));
  if (!card_.submit(workload_.prompt, output, this, ended)) {
    overrun_ = true;
    simulation_.stop();
  }
}

void Source::on_event(std::uint32_t kind, std::uint64_t) {
  switch (kind) {
    case next:
      if (workload_.arrivals == Arrivals::poisson) {
        send();
        simulation_.after(from_seconds(random_.exponential(1 / workload_.rate)), *this, next);
        return;
      }
      for (std::uint32_t i = 0; i < workload_.burst && !overrun_; ++i) send();
      simulation_.after(workload_.period / 2, *this, single);
      simulation_.after(workload_.period, *this, next);
      return;
    case single:
      return send();
    case ended:
      if (workload_.arrivals == Arrivals::closed) send();
      return;
    default:
      return;
  }
}

}  // namespace dmprof::simcard
