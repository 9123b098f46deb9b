// "Did you mean": the candidate nearest to what was typed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dmprof {

// Edit distance with transpositions of neighbours counted as one edit (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the smallest distance, or "" when none is close: at most one edit in three characters, or a prefix
// of at least three characters. One that differs only in upper and lower case comes first; ties go to the first
// candidate.
std::string nearest(std::string_view typed, std::span<const std::string> candidates);

// " (did you mean NAME?)" or "", to follow the name that is not known.
std::string did_you_mean(std::string_view typed, std::span<const std::string> candidates);

}  // namespace dmprof
