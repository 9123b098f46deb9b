// Prompt files (JSONL).
#include "samples/engine/scheduler/prompts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)dmengine::parse_prompts(text, "fuzz", dmengine::Arrivals::respected);
  return 0;
}
