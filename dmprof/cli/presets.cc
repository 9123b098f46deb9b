#include "dmprof/cli/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dmprof/base/suggest.h"
#include "dmprof/cli/embedded.h"

namespace dmprof::cli {

namespace {

// "hardware/b200.yaml" -> "b200"
std::string name_of(const EmbeddedFile& file) {
  const std::string_view name = file.file.substr(file.file.find('/') + 1);
  return std::string(name.substr(0, name.rfind('.')));
}

std::vector<std::string> names_of(const std::vector<EmbeddedFile>& files) {
  std::vector<std::string> names;
  std::transform(files.begin(), files.end(), std::back_inserter(names), name_of);
  std::sort(names.begin(), names.end());
  return names;
}

Result<Document> open(std::string_view flag, std::string_view what, const std::string& name,
                      const std::vector<EmbeddedFile>& files) {
  if (name.find('/') != std::string::npos || name.ends_with(".yaml")) return Document::load(name);
  for (const EmbeddedFile& file : files) {
    if (name_of(file) == name) return Document::parse(file.yaml, std::string(file.file));
  }
  const std::vector<std::string> known = names_of(files);
  return fail(ErrorKind::usage, fmt::format("{}: there is no {} {}{}; there are {}, or name a .yaml file", flag, what,
                                            name.substr(0, 60), did_you_mean(name, known), fmt::join(known, ", ")));
}

}  // namespace

std::vector<std::string> hardware_names() { return names_of(embedded_hardware()); }
std::vector<std::string> model_names() { return names_of(embedded_models()); }

Result<plan::Hardware> hardware_named(std::string_view flag, const std::string& name) {
  auto document = open(flag, "hardware", name, embedded_hardware());
  if (!document) return tl::unexpected(document.error());
  return plan::read_hardware(*document);
}

Result<plan::ModelShape> model_named(std::string_view flag, const std::string& name) {
  auto document = open(flag, "model", name, embedded_models());
  if (!document) return tl::unexpected(document.error());
  return plan::read_shape(*document);
}

}  // namespace dmprof::cli
