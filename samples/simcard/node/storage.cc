#include "samples/simcard/node/storage.h"

#include <algorithm>
#include <cmath>

namespace dmprof::simcard {

Tier::Tier(const TierParameters& parameters)
    : parameters_(parameters), slots_(static_cast<std::size_t>(std::max<std::int64_t>(1, parameters.outstanding)), 0) {
  use_.name = parameters.name;
}

void Tier::hold(double bytes) {
  use_.held += bytes;
  use_.peak = std::max(use_.peak, use_.held);
}

void Tier::place(double bytes) {
  use_.placed += bytes;
  hold(bytes);
}

SimTime Tier::write(double bytes, SimTime now) {
  use_.written += bytes;
  hold(bytes);
  return transfer(bytes, false, now);
}

SimTime Tier::read(double bytes, SimTime now) {
  use_.read += bytes;
  return transfer(bytes, true, now);
}

void Tier::release(double bytes) {
  use_.released += bytes;
  use_.held -= bytes;
}

SimTime Tier::transfer(double bytes, bool read, SimTime now) {
  if (!(bytes > 0)) return now;
  // A transfer beyond every machine is cut into larger requests, so that asking for it ends.
  constexpr double most_requests = 1 << 20;
  constexpr SimTime never = 10 * kLongestRun;
  const double requests = std::ceil(bytes / std::max(parameters_.request_bytes, bytes / most_requests));
  const double moved = bytes / parameters_.compression;
  const double link = moved / parameters_.link.bandwidth,
               packing = parameters_.packing > 0 ? bytes / parameters_.packing : 0;
  const SimTime each = from_seconds(std::max(link, packing) / requests),
                latency = from_seconds(parameters_.link.latency);
  for (double i = 0; i < requests; ++i) {
    const SimTime start = std::max(now, slots_[next_slot_]);
    link_free_ = std::min(std::max(link_free_, start + latency) + each, never);
    slots_[next_slot_] = link_free_;
    next_slot_ = next_slot_ + 1 == slots_.size() ? 0 : next_slot_ + 1;
  }
  use_.moved += moved;
  use_.busy += requests * seconds(each);
  use_.energy += moved * 8 * parameters_.link.energy_per_bit;
  if (listener_ != nullptr)
    listener_->on_tier_transfer(
        {index_, read, now, link_free_, moved, bytes, std::min(requests, static_cast<double>(slots_.size()))});
  return link_free_;
}

Storage::Storage(const std::vector<TierParameters>& tiers) {
  for (const TierParameters& tier : tiers) tiers_.emplace_back(tier);
}

void Storage::watch(TierListener& listener) {
  for (std::size_t i = 0; i < tiers_.size(); ++i) tiers_[i].watch(listener, i);
}

std::optional<std::size_t> Storage::tier_for(double bytes) const {
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    if (tiers_[i].fits(bytes)) return i;
  }
  return std::nullopt;
}

std::vector<double> Storage::place(double bytes) {
  double room = 0;
  for (const Tier& tier : tiers_) room += tier.free();
  if (bytes > room) return {};
  std::vector<double> shares;
  double left = bytes;
  for (Tier& tier : tiers_) {
    const double here = std::min(left, tier.free());
    if (here > 0) tier.place(here);
    left -= here;
    shares.push_back(bytes > 0 ? here / bytes : 0);
  }
  return shares;
}

SimTime Storage::read(double bytes, const std::vector<double>& shares, SimTime now) {
  SimTime done = now;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0) done = std::max(done, tiers_[i].read(bytes * shares[i], now));
  }
  return done;
}

std::vector<TierUse> Storage::use() const {
  std::vector<TierUse> all;
  for (const Tier& tier : tiers_) all.push_back(tier.use());
  return all;
}

}  // namespace dmprof::simcard
