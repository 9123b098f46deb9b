#include "dmprof/calibrate/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dmprof/calibrate/kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dmprof::calibrate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

std::uint64_t ReadOnce(const std::uint8_t* data, std::size_t bytes) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t words = bytes / sizeof(std::uint64_t) / streams_per_thread;
  const auto* a = reinterpret_cast<const std::uint64_t*>(data);
  const auto* b = a + words;
  const auto* c = b + words;
  const auto* e = c + words;
  auto sum_a = hn::Zero(d), sum_b = hn::Zero(d), sum_c = hn::Zero(d), sum_e = hn::Zero(d);
  for (std::size_t i = 0; i + lanes <= words; i += lanes) {
    sum_a = hn::Add(sum_a, hn::Load(d, a + i));
    sum_b = hn::Add(sum_b, hn::Load(d, b + i));
    sum_c = hn::Add(sum_c, hn::Load(d, c + i));
    sum_e = hn::Add(sum_e, hn::Load(d, e + i));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum_a, sum_b), hn::Add(sum_c, sum_e))));
}

std::uint64_t MultiplyAdd(std::uint64_t rounds, float& sink) {
  const hn::ScalableTag<float> d;
  // Ten chains cover latency x ports of every current core; the factor below 1 keeps the values normal for ever.
  constexpr std::uint64_t chains = 10;
  const auto factor = hn::Set(d, 0.999f);
  const auto term = hn::Set(d, 0.001f);
  auto v0 = hn::Set(d, 1.0f), v1 = hn::Set(d, 1.1f), v2 = hn::Set(d, 1.2f), v3 = hn::Set(d, 1.3f),
       v4 = hn::Set(d, 1.4f);
  auto v5 = hn::Set(d, 1.5f), v6 = hn::Set(d, 1.6f), v7 = hn::Set(d, 1.7f), v8 = hn::Set(d, 1.8f),
       v9 = hn::Set(d, 1.9f);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    v0 = hn::MulAdd(v0, factor, term);
    v1 = hn::MulAdd(v1, factor, term);
    v2 = hn::MulAdd(v2, factor, term);
    v3 = hn::MulAdd(v3, factor, term);
    v4 = hn::MulAdd(v4, factor, term);
    v5 = hn::MulAdd(v5, factor, term);
    v6 = hn::MulAdd(v6, factor, term);
    v7 = hn::MulAdd(v7, factor, term);
    v8 = hn::MulAdd(v8, factor, term);
    v9 = hn::MulAdd(v9, factor, term);
  }
  const auto low = hn::Add(hn::Add(v0, v1), hn::Add(hn::Add(v2, v3), v4));
  const auto high = hn::Add(hn::Add(v5, v6), hn::Add(hn::Add(v7, v8), v9));
  sink = hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
  return rounds * chains * 2 * hn::Lanes(d);
}

std::string InstructionSet() { return hwy::TargetName(HWY_TARGET); }

}  // namespace dmprof::calibrate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dmprof::calibrate {

HWY_EXPORT(ReadOnce);
HWY_EXPORT(MultiplyAdd);
HWY_EXPORT(InstructionSet);

std::uint64_t read_once(const std::uint8_t* data, std::size_t bytes) {
  return HWY_DYNAMIC_DISPATCH(ReadOnce)(data, bytes);
}
std::uint64_t multiply_add(std::uint64_t rounds, float& sink) {
  return HWY_DYNAMIC_DISPATCH(MultiplyAdd)(rounds, sink);
}
std::string instruction_set() { return HWY_DYNAMIC_DISPATCH(InstructionSet)(); }

}  // namespace dmprof::calibrate
#endif
