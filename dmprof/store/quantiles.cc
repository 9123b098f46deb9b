#include "dmprof/store/quantiles.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace dmprof {

namespace {

constexpr unsigned exact_bits = 11;  // values below 2^11 have a bucket each, larger ones 2^10 buckets an octave
constexpr std::size_t bucket_count = ((64 - exact_bits) << (exact_bits - 1)) + (1U << exact_bits);

constexpr std::size_t bucket_of(std::uint64_t value) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  const unsigned shift = width > exact_bits ? width - exact_bits : 0;
  return (static_cast<std::size_t>(shift) << (exact_bits - 1)) + static_cast<std::size_t>(value >> shift);
}

}  // namespace

Quantiles::Quantiles() : buckets_(bucket_count) {}

void Quantiles::add(std::span<const TimeNs> values) {
  const std::size_t before = narrow_.size();
  narrow_.resize(before + values.size());
  std::uint32_t* narrow = narrow_.data() + before;
  TimeNs largest = max_;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (const TimeNs signed_value : values) {
    const auto value = static_cast<std::uint64_t>(std::max<TimeNs>(signed_value, 0));
    ++buckets_[bucket_of(value)];
    largest = std::max(largest, signed_value);
    low += value & UINT32_MAX;
    high += value >> 32;
    if (value <= UINT32_MAX) [[likely]] {
      *narrow++ = static_cast<std::uint32_t>(value);
    } else {
      wide_.push_back(value);
    }
  }
  narrow_.resize(static_cast<std::size_t>(narrow - narrow_.data()));
  max_ = largest;
  sum_ += static_cast<double>(low) + static_cast<double>(high) * 4294967296.0;
}

double Quantiles::mean() const { return count() == 0 ? 0 : sum_ / static_cast<double>(count()); }

std::optional<TimeNs> Quantiles::at(double quantile) const {
  if (count() == 0) return std::nullopt;
  const double share = std::clamp(std::isnan(quantile) ? 0.0 : quantile, 0.0, 1.0);
  const double rank = std::ceil(share * static_cast<double>(count()));
  std::size_t before = rank < 1 ? 0 : std::min(static_cast<std::size_t>(rank) - 1, count() - 1);
  std::size_t bucket = 0;
  while (before >= buckets_[bucket]) before -= buckets_[bucket++];
  if (bucket < (1U << exact_bits)) return static_cast<TimeNs>(bucket);
  std::vector<std::uint64_t> inside;
  inside.reserve(buckets_[bucket]);
  for (const std::uint32_t value : narrow_) {
    if (bucket_of(value) == bucket) inside.push_back(value);
  }
  for (const std::uint64_t value : wide_) {
    if (bucket_of(value) == bucket) inside.push_back(value);
  }
  std::nth_element(inside.begin(), inside.begin() + static_cast<std::ptrdiff_t>(before), inside.end());
  return static_cast<TimeNs>(inside[before]);
}

}  // namespace dmprof
