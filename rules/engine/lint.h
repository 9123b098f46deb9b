// Checks of a rule that need the catalogue, and its own test vectors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzers/registry/catalogue.h"
#include "rules/engine/rule.h"

namespace dmprof::rules {

struct Complaint {
  std::string rule;
  std::string file;
  std::string message;  // one line: what is wrong and how to mend it
};

// Only catalogued metrics, all four kinds of vector, conditions that compile in the sandbox, fixes that name knobs, no
// gain typed in.
std::vector<Complaint> lint(std::span<const Rule> rules, const Catalogue& catalogue);
// Runs every vector; a complaint per one that does not do what it expects.
std::vector<Complaint> run_vectors(std::span<const Rule> rules, const Catalogue& catalogue);

}  // namespace dmprof::rules
