#include "dmprof/cachemodel/cache.h"

#include <algorithm>
#include <utility>

namespace dmprof::cachemodel {

BlockCache::BlockCache(std::uint64_t budget_bytes, std::unique_ptr<CachePolicy> policy)
    : budget_(budget_bytes), policy_(std::move(policy)) {}

bool BlockCache::used(BlockId block) const {
  const Entry* const entry = entries_.find(block);
  return entry != nullptr && entry->used;
}

std::uint32_t BlockCache::pins(BlockId block) const {
  const Entry* const entry = entries_.find(block);
  return entry == nullptr ? 0 : entry->pins;
}

Access BlockCache::access(BlockId block) {
  policy_->on_access(block);
  ++tick_;
  Entry* const entry = entries_.find(block);
  if (entry == nullptr) return {};
  const Access result{true, entry->cause == FetchCause::prefetch && !entry->used};
  entry->used = true;
  entry->last_access = tick_;
  return result;
}

Admission BlockCache::admit(BlockId block, std::uint64_t bytes, FetchCause cause, std::vector<Evicted>& evicted) {
  if (bytes > budget_) return Admission::too_large;
  if (pinned_bytes_ > budget_ - bytes) return Admission::no_room;
  const std::uint64_t free_bytes = budget_ - std::min(budget_, resident_bytes_);
  if (bytes > free_bytes) {
    // Over-full after a smaller budget that pins kept from shrinking: then more than `bytes` must go.
    victims_.clear();
    if (!policy_->choose_victims({block, resident_bytes_ + bytes - budget_, cause}, victims_)) {
      return cause == FetchCause::demand ? Admission::no_room : Admission::refused;
    }
    for (const BlockId victim : victims_) evicted.push_back(take_out(victim));
  }
  entries_[block] = {bytes, tick_, 0, cause, cause == FetchCause::demand};
  resident_bytes_ += bytes;
  policy_->on_insert(block, bytes, cause);
  return Admission::admitted;
}

std::optional<Evicted> BlockCache::remove(BlockId block) {
  const Entry* const entry = entries_.find(block);
  if (entry == nullptr || entry->pins > 0) return std::nullopt;
  return take_out(block);
}

Evicted BlockCache::take_out(BlockId block) {
  const Entry entry = *entries_.find(block);
  entries_.erase(block);
  resident_bytes_ -= entry.bytes;
  policy_->on_remove(block);
  return {block, entry.bytes, entry.cause == FetchCause::prefetch && !entry.used};
}

void BlockCache::pin(BlockId block) {
  Entry* const entry = entries_.find(block);
  if (entry == nullptr) return;
  if (entry->pins++ == 0) {
    pinned_bytes_ += entry->bytes;
    policy_->set_pinned(block, true);
  }
}

void BlockCache::unpin(BlockId block) {
  Entry* const entry = entries_.find(block);
  if (entry == nullptr || entry->pins == 0) return;
  if (--entry->pins == 0) {
    pinned_bytes_ -= entry->bytes;
    policy_->set_pinned(block, false);
  }
}

bool BlockCache::set_budget(std::uint64_t bytes, std::vector<Evicted>& evicted) {
  if (pinned_bytes_ > bytes) return false;
  if (resident_bytes_ > bytes) {
    victims_.clear();
    if (!policy_->choose_victims({0, resident_bytes_ - bytes, FetchCause::demand}, victims_)) return false;
    for (const BlockId victim : victims_) evicted.push_back(take_out(victim));
  }
  budget_ = bytes;
  return true;
}

void BlockCache::set_policy(std::unique_ptr<CachePolicy> policy) {
  policy_ = std::move(policy);
  std::vector<std::pair<std::uint64_t, BlockId>> order;
  order.reserve(entries_.size());
  entries_.each([&](BlockId block, const Entry& entry) { order.emplace_back(entry.last_access, block); });
  std::sort(order.begin(), order.end());
  for (const auto& [when, block] : order) {
    const Entry& entry = *entries_.find(block);
    policy_->on_insert(block, entry.bytes, entry.used ? FetchCause::demand : entry.cause);
    if (entry.pins > 0) policy_->set_pinned(block, true);
  }
}

}  // namespace dmprof::cachemodel
