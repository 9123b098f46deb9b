// SentencePiece as Llama models use it: blanks become U+2581, characters merge into the token of the highest score, and
// what is in no token is spelled in byte tokens.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "samples/engine/tokenizer/encoder.h"
#include "samples/engine/tokenizer/merge_queue.h"
#include "samples/engine/tokenizer/utf8.h"

namespace dmengine {

namespace {

constexpr std::string_view blank = "\xE2\x96\x81";  // U+2581

std::optional<uint8_t> byte_of(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
  uint32_t value = 0;
  for (const char c : text.substr(3, 2)) {
    const bool digit = c >= '0' && c <= '9', upper = c >= 'A' && c <= 'F';
    if (!digit && !upper) return std::nullopt;
    value = value * 16 + static_cast<uint32_t>(digit ? c - '0' : c - 'A' + 10);
  }
  return static_cast<uint8_t>(value);
}

class SentencePieceEncoder final : public Encoder {
 public:
  SentencePieceEncoder(const Vocabulary& vocabulary, bool leading_space)
      : vocabulary_(&vocabulary), leading_space_(leading_space) {
    for (size_t id = 0; id < vocabulary.texts.size(); ++id) {
      if (vocabulary.kinds[id] != TokenKind::byte) continue;
      if (const auto byte = byte_of(vocabulary.texts[id])) bytes_[*byte] = static_cast<int32_t>(id);
    }
  }

  bool adds_leading_space() const override { return leading_space_; }

  void encode(std::string_view text, std::vector<int32_t>& out) const override {
    if (text.empty()) return;
    std::string escaped(leading_space_ ? blank : std::string_view());
    for (const char c : text) {
      if (c == ' ') {
        escaped += blank;
      } else {
        escaped += c;
      }
    }
    std::vector<std::string_view> pieces;
    for (std::string_view rest = escaped; !rest.empty();) {
      const size_t length = next_character(rest).bytes;
      pieces.push_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    const auto merged =
        merge_pieces(pieces, [this](std::string_view left, std::string_view right) -> std::optional<double> {
          const auto id = text_token(std::string_view(left.data(), left.size() + right.size()));
          return id ? std::optional(-vocabulary_->scores[static_cast<size_t>(*id)]) : std::nullopt;
        });
    for (const std::string_view piece : merged) add(piece, out);
  }

  std::string bytes_of(int32_t token) const override {
    const auto index = static_cast<size_t>(token);
    const std::string& text = vocabulary_->texts[index];
    switch (vocabulary_->kinds[index]) {
      case TokenKind::control:
      case TokenKind::unused:
        return {};
      case TokenKind::unknown:
        return "\xEF\xBF\xBD";  // U+FFFD
      case TokenKind::byte:
        if (const auto byte = byte_of(text)) return std::string(1, static_cast<char>(*byte));
        return {};
      default:
        break;
    }
    std::string bytes;
    for (size_t at = 0; at < text.size();) {
      const bool is_blank = std::string_view(text).substr(at).starts_with(blank);
      bytes += is_blank ? ' ' : text[at];
      at += is_blank ? blank.size() : 1;
    }
    return bytes;
  }

 private:
  std::optional<int32_t> text_token(std::string_view text) const {
    const auto id = vocabulary_->find(text);
    if (!id) return std::nullopt;
    const TokenKind kind = vocabulary_->kinds[static_cast<size_t>(*id)];
    return kind == TokenKind::normal || kind == TokenKind::user_defined ? id : std::nullopt;
  }

  void add(std::string_view piece, std::vector<int32_t>& out) const {
    if (const auto id = text_token(piece)) return out.push_back(*id);
    for (const char c : piece) {
      const std::optional<int32_t>& byte = bytes_[static_cast<unsigned char>(c)];
      if (byte) {
        out.push_back(*byte);
      } else if (vocabulary_->unknown) {
        return out.push_back(*vocabulary_->unknown);
      }
    }
  }

  const Vocabulary* vocabulary_;
  bool leading_space_;
  std::array<std::optional<int32_t>, 256> bytes_;
};

}  // namespace

Result<std::unique_ptr<Encoder>> make_sentencepiece_encoder(const GgufFile& file, const Vocabulary& vocabulary) {
  if (vocabulary.scores.empty()) {
    return fail(ErrorKind::bad_input,
                fmt::format("model '{}' has no 'tokenizer.ggml.scores'; convert the model again", file.path()));
  }
  auto leading_space = file.bool_value("tokenizer.ggml.add_space_prefix", true);
  if (!leading_space) return tl::unexpected(leading_space.error());
  return std::make_unique<SentencePieceEncoder>(vocabulary, *leading_space);
}

}  // namespace dmengine
