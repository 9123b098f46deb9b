// Reads and writes the trained models as GGUF version 3, in the form llama.cpp loads: architecture "llama", matrices in
// F32 or Q8_0, norms in F32, output tied to the embedding, tokenizer "gpt2". The reader takes only what the writer
// makes.
#pragma once

#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "samples/models/train/shape.h"
#include "samples/models/train/tokenizer.h"

namespace dmprof::train {

enum class MatrixType { f32, q8_0 };

struct Model {
  Shape shape;
  std::vector<float> parameters;
  std::vector<Tokenizer::Pair> merges;
};

struct ModelInfo {
  std::string name;
  std::string description;
  std::string license;
};

// The file is written beside `path` and renamed, so that a reader never sees half of it.
Status write_gguf(const std::string& path, const Model& model, const ModelInfo& info, MatrixType type);

Result<Model> read_gguf(const std::string& path);

}  // namespace dmprof::train
