#include "samples/simcard/config/embedded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dmprof/base/suggest.h"

namespace dmprof::simcard {

Result<Document> open_description(std::string_view kind, const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".yaml")) return Document::load(name);
  std::vector<std::string> known;
  for (const EmbeddedDescription& entry : embedded_descriptions()) {
    if (entry.kind != kind) continue;
    if (entry.name == name) return Document::parse(entry.text, std::string(entry.path));
    known.emplace_back(entry.name);
  }
  const std::string near = nearest(name, known);
  return fail(ErrorKind::usage,
              near.empty()
                  ? fmt::format("{}: not among the {} known here ({}); name one or a .yaml file", name.substr(0, 60),
                                kind, fmt::join(known, ", "))
                  : fmt::format("{}: not among the {} known here; did you mean {}?", name.substr(0, 60), kind, near));
}

}  // namespace dmprof::simcard
