// Rule files from a user's folder.
#include "rules/engine/rule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)dmprof::rules::parse_rule(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  return 0;
}
