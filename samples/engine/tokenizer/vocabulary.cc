#include "samples/engine/tokenizer/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dmengine {

namespace {

tl::unexpected<Error> bad(const GgufFile& file, const std::string& detail) {
  return fail(ErrorKind::bad_input,
              fmt::format("model '{}' has an unusable tokenizer: {}; convert the model again", file.path(), detail));
}

Status special(const GgufFile& file, const char* key, uint32_t size, std::optional<int32_t>& out) {
  if (file.find(key) == nullptr) return {};
  // Some converters write -1 or 0xFFFFFFFF for "none".
  if (const auto* raw = std::get_if<int64_t>(file.find(key)); raw != nullptr && (*raw == -1 || *raw == 0xFFFFFFFF))
    return {};
  auto id = file.unsigned_value(key);
  if (!id) return tl::unexpected(id.error());
  if (*id >= size) return bad(file, fmt::format("'{}' is {}, the vocabulary has {} tokens", key, *id, size));
  out = static_cast<int32_t>(*id);
  return {};
}

Status read_kinds(const GgufFile& file, Vocabulary& out) {
  out.kinds.assign(out.texts.size(), TokenKind::normal);
  auto kinds = file.int_array("tokenizer.ggml.token_type");
  if (!kinds) return tl::unexpected(kinds.error());
  if (*kinds == nullptr) return {};
  if ((*kinds)->size() != out.texts.size()) {
    return bad(file, fmt::format("{} token types for {} tokens", (*kinds)->size(), out.texts.size()));
  }
  for (size_t i = 0; i < out.kinds.size(); ++i) {
    const int64_t kind = (**kinds)[i];
    if (kind < 1 || kind > 6) return bad(file, fmt::format("token {} has the unknown type {}", i, kind));
    out.kinds[i] = static_cast<TokenKind>(kind);
  }
  return {};
}

Status read_scores(const GgufFile& file, Vocabulary& out) {
  auto scores = file.real_array("tokenizer.ggml.scores");
  if (!scores) return tl::unexpected(scores.error());
  if (*scores == nullptr) return {};
  if ((*scores)->size() != out.texts.size()) {
    return bad(file, fmt::format("{} scores for {} tokens", (*scores)->size(), out.texts.size()));
  }
  if (std::any_of((*scores)->begin(), (*scores)->end(), [](double score) { return std::isnan(score); })) {
    return bad(file, "a score is not a number");
  }
  out.scores = **scores;
  return {};
}

}  // namespace

std::optional<int32_t> Vocabulary::find(std::string_view text) const {
  const auto it = ids_.find(text);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

Result<Vocabulary> Vocabulary::read(const GgufFile& file) {
  Vocabulary out;
  auto texts = file.string_array("tokenizer.ggml.tokens");
  if (!texts) return tl::unexpected(texts.error());
  if (*texts == nullptr || (*texts)->empty()) return bad(file, "it has no 'tokenizer.ggml.tokens'");
  out.texts = **texts;
  const TensorInfo* embedding = file.find_tensor("token_embd.weight");
  if (embedding != nullptr && embedding->rows != out.texts.size()) {
    return bad(file, fmt::format("{} tokens, but the embedding has {} rows", out.texts.size(), embedding->rows));
  }
  const auto steps = [&]() -> Status {
    DMPROF_TRY(read_kinds(file, out));
    DMPROF_TRY(read_scores(file, out));
    DMPROF_TRY(special(file, "tokenizer.ggml.bos_token_id", out.size(), out.bos));
    DMPROF_TRY(special(file, "tokenizer.ggml.eos_token_id", out.size(), out.eos));
    DMPROF_TRY(special(file, "tokenizer.ggml.unknown_token_id", out.size(), out.unknown));
    return {};
  };
  if (auto status = steps(); !status) return tl::unexpected(status.error());
  // SentencePiece vocabularies expect BOS unless the file says otherwise.
  auto model = file.string_value("tokenizer.ggml.model", "");
  if (!model) return tl::unexpected(model.error());
  auto add_bos = file.bool_value("tokenizer.ggml.add_bos_token", *model == "llama");
  if (!add_bos) return tl::unexpected(add_bos.error());
  out.add_bos = *add_bos;
  // Where two tokens have the same text, the first is the one that text becomes.
  for (size_t i = 0; i < out.texts.size(); ++i) out.ids_.emplace(out.texts[i], static_cast<int32_t>(i));
  return out;
}

}  // namespace dmengine
