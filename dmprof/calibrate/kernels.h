// The two inner loops of the calibration, compiled for the best instruction set of the machine that runs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dmprof::calibrate {

inline constexpr std::size_t streams_per_thread = 4;
inline constexpr std::size_t stream_granule = 64;

// Reads `bytes` (a multiple of streams_per_thread * stream_granule; `data` aligned to 64) once, as four streams side by
// side. The sum of all 64-bit words keeps the compiler from leaving the reads out and lets a test check that each was
// read once.
std::uint64_t read_once(const std::uint8_t* data, std::size_t bytes);

// Runs `rounds` rounds of independent single-precision fused multiply-adds in registers; returns the FLOPs done (2 a
// lane). `sink` receives a value that depends on all of them.
std::uint64_t multiply_add(std::uint64_t rounds, float& sink);

// "AVX2", "AVX3", "SSE4": the instruction set in use.
std::string instruction_set();

}  // namespace dmprof::calibrate
