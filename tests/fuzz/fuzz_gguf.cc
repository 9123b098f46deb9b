// Model files: header, metadata, tokenizer and layout of whatever bytes come.
#include "samples/engine/gguf/gguf.h"
#include "samples/engine/model/weights.h"
#include "samples/engine/tokenizer/tokenizer.h"
#include "tests/fuzz/scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = dmengine::GgufFile::open(dmprof::fuzz::scratch_file(data, size));
  if (!file) return 0;
  (void)dmengine::Tokenizer::from_gguf(*file);
  (void)dmengine::ModelLayout::read(*file);
  return 0;
}
