#include "samples/engine/synth/shapes.h"

#include <algorithm>

namespace dmengine {

namespace {

constexpr SynthShape shapes[] = {
    {.name = "tiny", .dim = 64, .ffn = 160, .layers = 4, .heads = 4, .kv_heads = 2, .vocab = 512},
    {.name = "m110", .dim = 768, .ffn = 2048, .layers = 12, .heads = 12, .kv_heads = 12, .vocab = 32000},
    {.name = "m400", .dim = 1024, .ffn = 3584, .layers = 24, .heads = 16, .kv_heads = 16, .vocab = 32000},
    {.name = "m400s",
     .dim = 1024,
     .ffn = 3584,
     .layers = 24,
     .heads = 16,
     .kv_heads = 16,
     .vocab = 32000,
     .damping = 0.05F},
};

}  // namespace

std::span<const SynthShape> synth_shapes() { return shapes; }

const SynthShape* find_synth_shape(std::string_view name) {
  const auto* it =
      std::find_if(std::begin(shapes), std::end(shapes), [name](const SynthShape& s) { return s.name == name; });
  return it == std::end(shapes) ? nullptr : it;
}

}  // namespace dmengine
