#include "dmprof/base/suggest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace dmprof {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string nearest(std::string_view typed, std::span<const std::string> candidates) {
  constexpr std::size_t longest_name = 128;  // keeps the quadratic distance cheap for hostile arguments
  if (typed.empty() || typed.size() > longest_name) return "";
  const auto same_letters = [&](const std::string& candidate) {
    return std::equal(typed.begin(), typed.end(), candidate.begin(), candidate.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    });
  };
  if (const auto same = std::find_if(candidates.begin(), candidates.end(), same_letters); same != candidates.end())
    return *same;
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(typed, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || typed.size() < 3) return best;
  for (const std::string& candidate : candidates) {
    if (candidate.starts_with(typed)) return candidate;
  }
  return "";
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> candidates) {
  const std::string found = nearest(typed, candidates);
  return found.empty() ? "" : " (did you mean " + found + "?)";
}

}  // namespace dmprof
