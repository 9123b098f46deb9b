// How an experiment is carried out: its seed, and who watches one of its runs.
#pragma once

#include <cstdint>

#include "samples/simcard/card/observer.h"
#include "samples/simcard/card/parameters.h"
#include "samples/simcard/serve/serve.h"

namespace dmprof::simcard {

// Asked before the run that stands for the experiment, at most once: several runs with other settings in one recording
// would be a mixture of them. A nullptr as the answer: nobody watches. An experiment that never asks makes no run: its
// figures are computed in closed form, or from draws that are no events.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual ServeObserver* serving(const ServeSpec& spec) = 0;
  virtual CardObserver* card(const CardParameters& parameters) = 0;
};

struct Conduct {
  std::uint64_t seed = 1;
  Witness* witness = nullptr;
};

}  // namespace dmprof::simcard
