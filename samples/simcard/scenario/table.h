// Runs every scenario and prints the table of claims. The result does not depend on the number of threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/scenario.h"

namespace dmprof::simcard {

// The kept scenarios that are rows of the table (those with an `experiment` among `experiments`), in order of their ids
// (A4 before A10).
Result<std::vector<Scenario>> table_scenarios();

Result<Outcome> run_scenario(const Scenario& scenario, std::span<const Experiment> experiments,
                             Witness* witness = nullptr);
// Runs on `threads` threads (1 or more); the first error in the order of the rows wins.
Result<std::vector<Outcome>> run_table(const std::vector<Scenario>& scenarios, std::span<const Experiment> experiments,
                                       unsigned threads);

std::string table_text(const std::vector<Outcome>& outcomes);
std::string table_markdown(const std::vector<Outcome>& outcomes);
std::string table_json(const std::vector<Outcome>& outcomes);

}  // namespace dmprof::simcard
