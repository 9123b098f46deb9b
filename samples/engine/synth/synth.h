// `dm-engine synth`: writes a model of a known shape with random weights from a seed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "samples/engine/gguf/gguf.h"
#include "samples/engine/synth/shapes.h"

namespace dmengine {

// args: what follows the word `synth`. Returns the exit status: 0 done, 2 usage, 6 a file could not be written.
int synth_main(std::span<const std::string> args);

// Writes the first `layers` layers of the shape (all of them, or fewer for a draft that shares its weights). The same
// arguments give the same bytes on every machine: the arithmetic is exact or rounded as IEEE 754 says.
Status write_synthetic_model(const std::string& path, const SynthShape& shape, TensorType type, uint64_t seed,
                             uint32_t layers);

}  // namespace dmengine
