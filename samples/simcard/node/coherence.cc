#include "samples/simcard/node/coherence.h"

#include <vector>

#include "samples/simcard/core/random.h"

namespace dmprof::simcard {

CoherenceTraffic simulate_coherence(const CoherenceLoad& load, std::uint64_t seed) {
  const auto cards = static_cast<std::size_t>(load.cards), blocks = static_cast<std::size_t>(load.blocks);
  std::vector<bool> shares(cards * blocks, false);  // block-major
  std::vector<std::size_t> sharers(blocks, 0);
  std::vector<bool> modified(blocks, false);
  Random random(seed, "coherence");
  const Discrete choose(zipf_weights(blocks, 0.8));
  CoherenceTraffic traffic;
  const auto transfer = [&](double messages, double data) {
    traffic.messages += messages;
    traffic.bytes += messages * load.message_bytes + data * load.block_bytes;
  };
  for (std::int64_t i = 0; i < load.accesses; ++i) {
    for (std::size_t card = 0; card < cards; ++card) {
      const std::size_t block = choose.draw(random);
      const std::size_t mine = block * cards + card;
      const bool write = random.chance(load.write_share);
      if (!shares[mine]) {
        transfer(modified[block] ? 3 : 2, 1);  // request, (forward to the owner,) answer with the block
        shares[mine] = true;
        ++sharers[block];
        modified[block] = false;
      }
      if (write && !(modified[block] && sharers[block] == 1)) {
        transfer(2 + 2 * static_cast<double>(sharers[block] - 1),
                 0);  // upgrade, grant; invalidate and acknowledge each
        for (std::size_t other = 0; other < cards; ++other) shares[block * cards + other] = other == card;
        sharers[block] = 1;
        modified[block] = true;
      }
    }
  }
  traffic.per_access = traffic.bytes / (static_cast<double>(load.accesses) * static_cast<double>(load.cards));
  return traffic;
}

}  // namespace dmprof::simcard
