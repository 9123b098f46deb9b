// What the kept recording of each format holds: written by make_kept_recording, expected by kept_recording_test.
#pragma once

#include "tests/unit/store/support.h"

namespace dmprof::test {

inline constexpr std::size_t kept_events = 250;

// Words of an enumeration that the kept recordings use: those it had when they were written.
template <class Enum>
inline constexpr std::size_t kept_words = Labels<Enum>::words.size();
template <>
inline constexpr std::size_t kept_words<PrefetchPoint> = 4;

// The same events on every machine and for ever: integers from a fixed recurrence, no library randomness.
template <class E>
std::vector<E> kept() {
  std::vector<E> events;
  std::uint64_t state = Describe<E>::kind;
  TimeNs clock = 1'000'000;
  for (std::size_t i = 0; i < kept_events; ++i) {
    E event;
    for_each_field<E>([&](const auto& field, std::size_t) {
      using T = typename std::remove_cvref_t<decltype(field)>::Value;
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const std::uint64_t bits = state >> 40;
      if constexpr (std::is_enum_v<T>) {
        event.*field.member = static_cast<T>(bits % kept_words<T>);
      } else if constexpr (std::is_same_v<T, double>) {
        event.*field.member = static_cast<double>(bits) / 8;
      } else if (field.meaning == Meaning::track || field.meaning == Meaning::name || field.meaning == Meaning::tier) {
        event.*field.member = static_cast<T>(1 + bits % 2);
      } else if (field.meaning == Meaning::time) {
        event.*field.member = static_cast<T>(clock += static_cast<TimeNs>(bits % 1000));
      } else {
        event.*field.member = static_cast<T>(bits % 1'000'000);
      }
    });
    events.push_back(event);
  }
  return events;
}

}  // namespace dmprof::test
