// Character classes that pre-tokenization needs.
#pragma once

#include <cstdint>

namespace dmengine {

bool is_letter(uint32_t code);
bool is_number(uint32_t code);
bool is_space(uint32_t code);

}  // namespace dmengine
