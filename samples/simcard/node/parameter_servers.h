// Erasure-coded parameter servers: each object is k data fragments on k servers with parity on others. Healthy, a
// fragment is read where it lies; when its server is down it is rebuilt from others: RS(k, m) reads k fragments, LRC(k,
// l, r) the k/l of its local group (Huang et al., ATC 2012). Simulated as queues at the servers.
#pragma once

#include <cstdint>

#include "samples/simcard/node/hardware.h"

namespace dmprof::simcard {

struct ErasureCode {
  std::int64_t data = 6;    // k
  std::int64_t parity = 3;  // m of RS; global parities r of LRC
  std::int64_t groups = 0;  // l of LRC; 0: RS
  std::int64_t servers() const { return data + parity + groups; }
  // Fragments read to serve one fragment whose server is down.
  std::int64_t repair_reads() const { return groups > 0 ? data / groups : data; }
};

struct ServerReads {
  double fragment_bytes = 4e6;
  double rate = 1000;  // fragment reads per second over all servers
  std::int64_t reads = 20000;
  std::int64_t down = 0;  // servers that are lost (data servers first)
  Link link;              // of one server
};

struct ReadResult {
  double amplification = 0;  // bytes read / bytes asked
  double mean = 0, p99 = 0;  // s from asking to having the fragment
  double utilization = 0;    // busiest server
  double bytes = 0;          // sent by all servers
  bool overloaded = false;   // the queue of a server did not drain: the load is beyond its link
};

// `code.data` must be divisible by `code.groups` where there are groups, and down <= parity. Deterministic by seed.
ReadResult simulate_reads(const ErasureCode& code, const ServerReads& reads, std::uint64_t seed);

}  // namespace dmprof::simcard
