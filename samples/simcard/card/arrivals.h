// Sends requests to a card: a closed loop of users, a Poisson stream, or bursts with single requests between them.
#pragma once

#include "samples/simcard/card/card.h"
#include "samples/simcard/core/random.h"

namespace dmprof::simcard {

class Source : public Actor {
 public:
  Source(Simulation& simulation, const WorkloadParameters& workload, std::uint64_t seed, std::uint32_t index,
         Card& card);
  void begin();
  // A request was refused: requests come faster than the card answers.
  bool overrun() const { return overrun_; }
  void on_event(std::uint32_t kind, std::uint64_t argument) override;

 private:
  enum Event : std::uint32_t { next, single, ended };
  void send();

  Simulation& simulation_;
  const WorkloadParameters& workload_;
  Random random_;
  Card& card_;
  bool overrun_ = false;
};

}  // namespace dmprof::simcard
