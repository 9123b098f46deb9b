// A card's parameters from a description file. Keys that are absent keep the defaults of CardParameters: the card as
// the article describes it, not the shipping product.
#pragma once

#include "dmprof/base/description/section.h"
#include "samples/simcard/card/parameters.h"

namespace dmprof::simcard {

struct CardScenario {
  std::string title;
  SimTime duration = kSecond;  // virtual time that is simulated unless the caller says otherwise
  CardParameters parameters;
};

// Reads `title`, `duration` and `card` of a scenario's top mapping (other keys are an error) and checks the card.
Result<CardScenario> read_card_scenario(const Section& root);

// Reads the mapping of `card`; the errors stay with the section, whose finish() the caller calls at the end.
void read_card(Section card, CardParameters& parameters);

}  // namespace dmprof::simcard
