// `dm-engine synth`: writes a model of a known shape with random weights from a seed.
#pragma once

#include <span>
#include <string>

namespace dmengine {

// args: what follows the word `synth`. Returns the exit status: 0 done, 2 usage, 6 the file could not be written.
// The same arguments give the same bytes on every machine.
int synth_main(std::span<const std::string> args);

}  // namespace dmengine
