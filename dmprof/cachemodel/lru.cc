// Policy 0: the block accessed longest ago goes first.
#include "dmprof/cachemodel/policies.h"
#include "dmprof/cachemodel/ranked_blocks.h"

namespace dmprof::cachemodel {
namespace {

class Lru final : public CachePolicy {
 public:
  void on_access(BlockId block) override { blocks_.set_rank(block, {0, ++tick_, 0}); }
  void on_insert(BlockId block, std::uint64_t bytes, FetchCause) override {
    blocks_.insert(block, bytes, {0, ++tick_, 0});
  }
  void on_remove(BlockId block) override { blocks_.erase(block); }
  void set_pinned(BlockId block, bool pinned) override { blocks_.set_pinned(block, pinned); }
  bool choose_victims(const VictimQuery& query, std::vector<BlockId>& victims) const override {
    return blocks_.collect(query.bytes, victims, [](const RankedBlocks::Candidate&) { return true; });
  }

 private:
  RankedBlocks blocks_;
  std::uint64_t tick_ = 0;
};

}  // namespace

std::unique_ptr<CachePolicy> make_lru() { return std::make_unique<Lru>(); }

}  // namespace dmprof::cachemodel
