// The words for every enumeration of event.h, as SQL, CSV and reports show them: label(RequestPoint::arrive) is
// "arrive". The position in the list is the stored number; new words go to the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dmprof/event/event.h"

namespace dmprof {

template <class Enum>
struct Labels;

template <>
struct Labels<Phase> {
  static constexpr auto words = std::to_array<std::string_view>({"none", "prefill", "decode"});
};
template <>
struct Labels<RequestPoint> {
  static constexpr auto words =
      std::to_array<std::string_view>({"arrive", "schedule", "first_token", "preempt", "end", "fail"});
};
template <>
struct Labels<DraftType> {
  static constexpr auto words = std::to_array<std::string_view>({"none", "model", "ngram", "head", "tree"});
};
template <>
struct Labels<StepCut> {
  static constexpr auto words = std::to_array<std::string_view>({"whole", "end_of_text", "max_tokens", "baseline"});
};
template <>
struct Labels<AccessOutcome> {
  static constexpr auto words = std::to_array<std::string_view>({"hit", "late", "miss"});
};
template <>
struct Labels<BlockOrigin> {
  static constexpr auto words = std::to_array<std::string_view>({"resident", "prefetched", "demand"});
};
template <>
struct Labels<Prediction> {
  static constexpr auto words = std::to_array<std::string_view>({"none", "right", "wrong"});
};
template <>
struct Labels<PrefetchPoint> {
  static constexpr auto words =
      std::to_array<std::string_view>({"issued", "completed", "evicted_unused", "cancelled", "displaced"});
};
template <>
struct Labels<Statistic> {
  static constexpr auto words =
      std::to_array<std::string_view>({"increase", "gauge", "bucket", "count", "sum", "quantile"});
};

template <class Enum>
requires std::is_enum_v<Enum>
constexpr bool is_known(Enum value) { return static_cast<std::size_t>(value) < Labels<Enum>::words.size(); }

// "?" for a number that has no word.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::string_view label(Enum value) {
  return is_known(value) ? Labels<Enum>::words[static_cast<std::size_t>(value)] : std::string_view("?");
}

}  // namespace dmprof
