// The YAML files that the program carries (embed_files.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace dmprof::cli {

struct EmbeddedFile {
  std::string_view file;  // "playbook/bandwidth-underused.yaml"
  std::string_view yaml;
};

std::vector<EmbeddedFile> embedded_playbook();  // rules/playbook
std::vector<EmbeddedFile> embedded_hardware();  // analyzers/plan/hardware
std::vector<EmbeddedFile> embedded_models();    // samples/simcard/models

}  // namespace dmprof::cli
