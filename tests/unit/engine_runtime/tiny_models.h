// A small random model and its draft, written once per test program by the engine's own generator.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "samples/engine/synth/synth.h"

namespace dmengine::testing_models {

struct TinyModels {
  std::filesystem::path folder;
  std::string target, draft;

  TinyModels() {
    std::string name = (std::filesystem::temp_directory_path() / "dm_engine_runtime_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder = name;
    target = (folder / "target.gguf").string();
    draft = (folder / "draft.gguf").string();
    const std::vector<std::string> args{"--shape", "tiny", "--type", "f32",         "--seed",
                                        "3",       "-o",   target,   "--draft-out", draft};
    if (synth_main(args) != 0) throw std::runtime_error("dm-engine synth failed");
  }
  ~TinyModels() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

inline const TinyModels& tiny() {
  static const TinyModels models;
  return models;
}

}  // namespace dmengine::testing_models
