// Emission through the C SDK, in virtual time and lossless: a recording of a run is complete and the same every time.
#pragma once

#include <memory>
#include <vector>

#include "samples/simcard/card/parameters.h"
#include "samples/simcard/record/card_recorder.h"
#include "samples/simcard/record/session.h"

namespace dmprof::simcard {

// One process has one. Publishes the process at its making; where nobody attaches then, no card is observed. All cards
// share one virtual clock.
class Recorder {
 public:
  Recorder(const CardParameters& parameters, std::uint32_t cards);

  bool attached() const { return session_.attached(); }
  // nullptr: not observed, because nobody is attached or there are more than kMostRecordedCards.
  CardObserver* card(std::uint32_t index) { return index < cards_.size() ? cards_[index].get() : nullptr; }
  // The run has ended: measures what steps without speculation take, of a single card that drafts.
  void bench(const CardParameters& parameters, std::uint64_t seed, SimTime ended);

 private:
  void register_capacities(const CardParameters& parameters, std::uint32_t cards);

  Session session_;
  RecordedNames names_;
  std::vector<std::unique_ptr<CardRecorder>> cards_;
};

}  // namespace dmprof::simcard
