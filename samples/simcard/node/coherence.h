// Cache coherence between cards: a directory protocol's messages for shared blocks, simulated.
#pragma once

#include <cstdint>

namespace dmprof::simcard {

struct CoherenceLoad {
  std::int64_t cards = 8;
  std::int64_t blocks = 1024;     // shared KV or parameter blocks
  double write_share = 0.1;       // of accesses
  std::int64_t accesses = 20000;  // of one card
  double block_bytes = 65536;
  double message_bytes = 64;
};

struct CoherenceTraffic {
  double messages = 0;    // requests, invalidations and acknowledgements
  double bytes = 0;       // blocks and messages
  double per_access = 0;  // bytes per access of any card
};

// MSI with a directory: a read miss fetches the block, a write invalidates every other sharer. Deterministic by seed.
CoherenceTraffic simulate_coherence(const CoherenceLoad& load, std::uint64_t seed);

}  // namespace dmprof::simcard
