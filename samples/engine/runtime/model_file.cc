#include "samples/engine/runtime/model_file.h"

#include <fmt/format.h>

namespace dmengine {

dmprof::Result<std::unique_ptr<ModelFile>> ModelFile::open(const std::string& path) {
  auto file = GgufFile::open(path);
  if (!file) return tl::unexpected(file.error());
  auto layout = ModelLayout::read(*file);
  if (!layout) return tl::unexpected(layout.error());
  auto tokenizer = Tokenizer::from_gguf(*file);
  if (!tokenizer) return tl::unexpected(tokenizer.error());
  if (tokenizer->vocab_size() != (*layout)->config.vocab) {
    return fail(
        ErrorKind::bad_input,
        fmt::format("{}: the tokenizer has {} tokens and the model {}; the file is damaged or was put together wrongly",
                    path, tokenizer->vocab_size(), (*layout)->config.vocab));
  }
  return std::unique_ptr<ModelFile>(new ModelFile{path, *layout, std::move(*tokenizer), nullptr, nullptr});
}

Status same_vocabulary(const ModelFile& target, const ModelFile& draft) {
  const std::uint32_t size = target.tokenizer.vocab_size();
  bool same = draft.tokenizer.vocab_size() == size && draft.tokenizer.eos() == target.tokenizer.eos();
  for (std::uint32_t i = 0; same && i < size; ++i) {
    const auto token = static_cast<std::int32_t>(i);
    same = target.tokenizer.piece(token) == draft.tokenizer.piece(token);
  }
  if (same) return {};
  return fail(
      ErrorKind::bad_input,
      fmt::format("{} and {} do not share a vocabulary; use a draft that was trained with the target's tokenizer",
                  draft.path, target.path));
}

}  // namespace dmengine
