// What a machine can do at most: the profile that advice about a model is given for. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzers/plan/window.h"
#include "dmprof/base/description/document.h"

namespace dmprof::plan {

// Of the operands of a product, widest first.
enum class Precision : std::uint8_t { fp32, fp16, fp8, fp4 };
constexpr std::array<std::string_view, 4> precision_names = {"fp32", "fp16", "fp8", "fp4"};

struct Hardware {
  std::string name;
  std::string basis;        // "datasheet", "measured", "article", "configured": whose word the figures are
  std::string source;       // where they stand, in words
  double memory_bytes = 0;  // 0: not known
  double bandwidth = 0;     // B/s of that memory
  std::uint64_t tile = 0;   // elements; matrix units work on whole tiles of that width. 0: not known
  std::array<double, precision_names.size()> peak_flops{};  // FLOP/s by Precision, dense; 0: not listed

  // The precision that operands of `wanted` are multiplied in: itself where it is listed, else the nearest wider one
  // that is (they are expanded first), else the narrowest that is listed.
  Precision computed_in(Precision wanted) const;
  double peak(Precision wanted) const { return peak_flops[static_cast<std::size_t>(computed_in(wanted))]; }
  Roofline roofline(Precision wanted) const { return {peak(wanted), bandwidth}; }
};

// A profile: name, basis, source, memory: {capacity, bandwidth}, compute: {fp32, fp16, fp8, fp4}, tile. Errors
// (bad_input): "FILE:LINE: KEY: what, how to mend".
Result<Hardware> read_hardware(const Document& document);

}  // namespace dmprof::plan
