#include "samples/engine/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <utility>

#include "samples/engine/tokenizer/encoder.h"
#include "samples/engine/tokenizer/utf8.h"
#include "samples/engine/tokenizer/vocabulary.h"

namespace dmengine {

struct Tokenizer::Impl {
  Vocabulary vocabulary;
  std::unique_ptr<Encoder> encoder;
  std::vector<std::string> pieces;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::from_gguf(const GgufFile& file) {
  auto kind = file.string_value("tokenizer.ggml.model");
  if (!kind) return tl::unexpected(kind.error());
  if (*kind != "gpt2" && *kind != "llama") {
    return fail(ErrorKind::bad_input,
                fmt::format("model '{}' has a tokenizer of kind '{}', this engine reads 'gpt2' and "
                            "'llama'; choose another model",
                            file.path(), kind->substr(0, 40)));
  }
  auto vocabulary = Vocabulary::read(file);
  if (!vocabulary) return tl::unexpected(vocabulary.error());
  auto impl = std::make_unique<Impl>();
  impl->vocabulary = std::move(*vocabulary);
  auto encoder = *kind == "gpt2" ? make_byte_pair_encoder(file, impl->vocabulary)
                                 : make_sentencepiece_encoder(file, impl->vocabulary);
  if (!encoder) return tl::unexpected(encoder.error());
  impl->encoder = std::move(*encoder);
  for (uint32_t token = 0; token < impl->vocabulary.size(); ++token) {
    impl->pieces.push_back(impl->encoder->bytes_of(static_cast<int32_t>(token)));
  }
  return Tokenizer(std::move(impl));
}

uint32_t Tokenizer::vocab_size() const { return impl_->vocabulary.size(); }
std::optional<int32_t> Tokenizer::bos() const { return impl_->vocabulary.bos; }
std::optional<int32_t> Tokenizer::eos() const { return impl_->vocabulary.eos; }
bool Tokenizer::adds_bos() const { return impl_->vocabulary.add_bos; }

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool with_bos) const {
  std::vector<int32_t> out;
  if (with_bos && impl_->vocabulary.bos) out.push_back(*impl_->vocabulary.bos);
  impl_->encoder->encode(text, out);
  return out;
}

std::string_view Tokenizer::piece(int32_t token) const {
  if (token < 0 || static_cast<uint32_t>(token) >= vocab_size()) return {};
  return impl_->pieces[static_cast<size_t>(token)];
}

std::string Tokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens) text += piece(token);
  if (impl_->encoder->adds_leading_space() && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool at_start)
    : tokenizer_(&tokenizer), at_start_(at_start && tokenizer.impl_->encoder->adds_leading_space()) {}

std::string StreamDecoder::push(int32_t token) {
  std::string_view piece = tokenizer_->piece(token);
  if (at_start_ && !piece.empty()) {
    if (piece.front() == ' ') piece.remove_prefix(1);
    at_start_ = false;
  }
  pending_ += piece;
  std::string out;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const Utf8Character c = next_character(rest);
    if (c.partial) break;
    append_utf8(out, c.valid ? c.code : 0xFFFD);
    rest.remove_prefix(c.bytes);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return out;
}

std::string StreamDecoder::finish() {
  std::string out;
  if (!pending_.empty()) append_utf8(out, 0xFFFD);
  pending_.clear();
  return out;
}

}  // namespace dmengine
