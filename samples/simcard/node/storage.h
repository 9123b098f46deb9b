// The tiers behind the cards' memory as queues. A transfer is cut into requests; each waits for one of the tier's
// slots, then for its latency, then for the tier's link, in the order of asking: with few slots it is the latency that
// bounds the bandwidth (Little: outstanding x request / latency), with many the link.
//
// Bytes are logical, as the cards see them; what is stored and moved is smaller by the tier's compression. What a tier
// took in is what it holds and what was released; what it moved is what was written and read. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "samples/simcard/core/time.h"
#include "samples/simcard/node/hardware.h"

namespace dmprof::simcard {

struct TierUse {
  std::string name;
  double placed = 0;              // was there from the start
  double written = 0, read = 0;   // logical bytes
  double released = 0, held = 0;  // logical bytes that left, and that are there
  double peak = 0;                // most logical bytes held
  double moved = 0;               // over the link
  double busy = 0;                // s of the link
  double energy = 0;              // J
};

struct TierTransfer {
  std::size_t tier = 0;
  bool read = false;  // out of it
  SimTime start = 0, end = 0;
  double moved = 0, asked = 0;  // bytes over the tier's link; the same as the cards see them
  double requests = 0;          // under way at a time, at most
};

class TierListener {
 public:
  virtual ~TierListener() = default;
  virtual void on_tier_transfer(const TierTransfer& transfer) = 0;
};

class Tier {
 public:
  explicit Tier(const TierParameters& parameters);
  // From now on `listener` is told of its transfers under that number; it outlives the tier.
  void watch(TierListener& listener, std::size_t index) { listener_ = &listener, index_ = index; }

  bool fits(double bytes) const { return (use_.held + bytes) / parameters_.compression <= parameters_.capacity; }
  double free() const { return parameters_.capacity * parameters_.compression - use_.held; }

  void place(double bytes);  // takes room, moves nothing
  // Both give the time of the last request's answer. A write takes room at once; it must fit.
  SimTime write(double bytes, SimTime now);
  SimTime read(double bytes, SimTime now);
  void release(double bytes);

  const TierUse& use() const { return use_; }

 private:
  SimTime transfer(double bytes, bool read, SimTime now);
  void hold(double bytes);

  TierParameters parameters_;
  TierUse use_;
  std::vector<SimTime> slots_;  // when each is free; requests are answered in order, so that the oldest is next
  std::size_t next_slot_ = 0;
  SimTime link_free_ = 0;
  TierListener* listener_ = nullptr;
  std::size_t index_ = 0;
};

class Storage {
 public:
  explicit Storage(const std::vector<TierParameters>& tiers);
  void watch(TierListener& listener);

  // The first tier with room for all of it.
  std::optional<std::size_t> tier_for(double bytes) const;
  // Spreads what is there from the start over the tiers, the first ones filled first; gives each tier's share. Empty
  // where they cannot hold it.
  std::vector<double> place(double bytes);
  // Reads from all tiers at once, in these shares.
  SimTime read(double bytes, const std::vector<double>& shares, SimTime now);

  Tier& operator[](std::size_t index) { return tiers_[index]; }
  std::vector<TierUse> use() const;

 private:
  std::vector<Tier> tiers_;
};

}  // namespace dmprof::simcard
