// A node as the serving simulation sees it: equal cards behind links. Read from samples/simcard/presets/*.yaml; the
// keys say the same as the fields. Everything is a parameter; `achieved` shares and `residuals` are fitted, not
// physics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/base/error.h"

namespace dmprof::simcard {

struct Link {
  double bandwidth = 0;       // B/s of one card, each direction
  double latency = 0;         // s of one hop
  double energy_per_bit = 0;  // J
};

// A store behind the cards' memory, shared by the whole node: a CXL pool, local NVMe drives.
struct TierParameters {
  std::string name;
  double capacity = 0;             // bytes as stored
  Link link;                       // of the whole tier, reads and writes together; its latency is that of one request
  double request_bytes = 1 << 20;  // logical bytes of one request
  std::int64_t outstanding = 64;   // requests under way at a time
  double compression = 1;          // logical bytes / bytes stored and moved
  double packing = 0;              // logical B/s packed and unpacked at most; 0: no limit
};

struct Residuals {               // what a fit needed beside the mechanisms; zero in presets that were not fitted
  double host = 0;               // s added to every step
  double jitter_sigma = 0;       // deviation of the logarithm of a step's time
  double stall_probability = 0;  // of one sequence in one step
  double stall_mean = 0;         // s, exponential
};

// Two-level speculation: the engine's draft checks a coarse draft of `lookahead` tokens in one pass. `draft_token` is
// then the time of such a pass, which gives one token and as many more as the coarse draft had right.
struct CoarseDraft {
  std::int64_t lookahead = 0;  // 0: one level
  double acceptance = 0;       // of every coarse token when those before it were right
  double token = 0;            // s
  double bytes = 0;            // an engine reads for it
};

struct Hardware {
  std::string name;
  std::int64_t cards = 1;
  double memory_capacity = 0;   // bytes a card
  double memory_bandwidth = 0;  // B/s a card, as stated
  double memory_achieved = 1;   // share of it that a pass reaches
  double peak_compute = 0;      // FLOP/s a card, dense
  double compute_achieved = 1;
  double memory_energy = 0;   // J/bit
  double compute_energy = 0;  // J/FLOP
  double idle_power = 0;      // W a card, whether it works or not
  std::int64_t engines = 0;   // speculation engines a card; 0: drafts run on the card itself, one at a time
  bool mirrored =
      false;  // every card's engines draft for the same sequences (tensor parallel): `engines` serve the node
  double draft_token = 0;                // s that one draft token takes on an engine
  double draft_bytes = 0;                // bytes an engine reads for it
  double draft_bytes_per_parameter = 1;  // of either draft
  CoarseDraft coarse;
  bool compute_in_memory = false;     // products with weights are done where the weights lie: only activations move
  Link link;                          // between the cards of the node
  std::vector<TierParameters> tiers;  // for what does not fit into the cards' memory, the fastest first
  Residuals residuals;

  double memory() const { return memory_capacity * static_cast<double>(cards); }  // bytes of all cards
  double bandwidth() const { return memory_bandwidth * memory_achieved; }
  double compute() const { return peak_compute * compute_achieved; }
  double ridge_point() const { return peak_compute / memory_bandwidth; }  // FLOP/B
};

// Reads a preset by name ("c8-node") or from a file. With `base: NAME` it states only what differs from that preset.
// What is impossible (no cards, no bandwidth) is refused with file, line, key.
Result<Hardware> open_hardware(const std::string& name);

}  // namespace dmprof::simcard
