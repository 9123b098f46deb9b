// Random numbers as a function, not as a stream: each draw depends only on the seed, the request, the token's position
// in its sequence and the purpose of the draw. So a request's output does not depend on which other requests share its
// batch, nor on the order in which sequences are sampled.
//
// The generator is a counter hashed by four rounds of the SplitMix64 finaliser (Steele, Lea and Flood, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace dmengine {

// Draws of one position never share a number. A draft that is thrown away behind a rejected position leaves its numbers
// unused by anything that was emitted, so the next step may draw them again.
enum class Draw : std::uint64_t { propose = 1, accept = 2, emit = 3 };

// Uniform in [0, 1), 53 bits.
double uniform(std::uint64_t seed, std::uint64_t request, std::uint64_t position, Draw purpose);

}  // namespace dmengine
