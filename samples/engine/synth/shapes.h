// The model shapes that `dm-engine synth` knows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dmengine {

struct SynthShape {
  std::string_view name;
  uint32_t dim, ffn, layers, heads, kv_heads, vocab;
  // The output of layers from `damped_from` on is scaled by this, so that the first layers alone predict most tokens
  // and make a draft of tunable acceptance.
  float damping = 1.0F;
  uint32_t damped_from = 2;
};

std::span<const SynthShape> synth_shapes();
const SynthShape* find_synth_shape(std::string_view name);  // nullptr when unknown

}  // namespace dmengine
