// A made-up byte-level BPE vocabulary, so that synthetic models take and give text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dmengine {

struct SynthVocabulary {
  std::vector<std::string> tokens;  // 0: end of text; 1 to 256: the bytes; then pairs and triples of ASCII characters
  std::vector<int32_t> kinds;
  std::vector<std::string> merges;
};

// size: 257 up to about 800,000.
SynthVocabulary make_synth_vocabulary(uint32_t size);

}  // namespace dmengine
