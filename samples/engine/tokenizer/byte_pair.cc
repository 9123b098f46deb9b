// Byte-level byte-pair encoding as GPT-2 does it. Every byte has a printable character of its own, in which the
// vocabulary and the merges are written; words are split first and merged one by one.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "samples/engine/tokenizer/encoder.h"
#include "samples/engine/tokenizer/merge_queue.h"
#include "samples/engine/tokenizer/pretokenizer.h"
#include "samples/engine/tokenizer/utf8.h"

namespace dmengine {

namespace {

// Printable Latin-1 characters stand for themselves, the other bytes for U+0100 onwards in order.
std::array<uint32_t, 256> characters_of_bytes() {
  std::array<uint32_t, 256> out{};
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    out[byte] = printable ? byte : next++;
  }
  return out;
}

using Pair = std::pair<std::string_view, std::string_view>;

struct PairHash {
  size_t operator()(const Pair& pair) const {
    const std::hash<std::string_view> hash;
    return hash(pair.first) * 31 + hash(pair.second);
  }
};

class BytePairEncoder final : public Encoder {
 public:
  BytePairEncoder(const Vocabulary& vocabulary, std::vector<std::string> merges)
      : vocabulary_(&vocabulary), merges_(std::move(merges)) {
    const auto characters = characters_of_bytes();
    for (uint32_t byte = 0; byte < 256; ++byte) {
      append_utf8(written_[byte], characters[byte]);
      bytes_.emplace(characters[byte], static_cast<char>(byte));
    }
    for (size_t rank = 0; rank < merges_.size(); ++rank) {
      const std::string_view merge = merges_[rank];
      const size_t space = merge.find(' ', 1);
      ranks_.emplace(Pair(merge.substr(0, space), merge.substr(space + 1)), static_cast<double>(rank));
    }
  }

  void encode(std::string_view text, std::vector<int32_t>& out) const override {
    for (const std::string_view word : split_words(text)) encode_word(word, out);
  }

  std::string bytes_of(int32_t token) const override {
    const auto index = static_cast<size_t>(token);
    const TokenKind kind = vocabulary_->kinds[index];
    if (kind == TokenKind::control || kind == TokenKind::unused) return {};
    std::string bytes;
    for (std::string_view rest = vocabulary_->texts[index]; !rest.empty();) {
      const Utf8Character c = next_character(rest);
      const auto it = bytes_.find(c.code);
      if (!c.valid || it == bytes_.end()) return vocabulary_->texts[index];  // an added token, written as plain text
      bytes.push_back(it->second);
      rest.remove_prefix(c.bytes);
    }
    return bytes;
  }

 private:
  void encode_word(std::string_view word, std::vector<int32_t>& out) const {
    std::string written;
    std::vector<size_t> ends;
    for (const char c : word) {
      written += written_[static_cast<unsigned char>(c)];
      ends.push_back(written.size());
    }
    std::vector<std::string_view> pieces;
    size_t begin = 0;
    for (const size_t end : ends) {
      pieces.push_back(std::string_view(written).substr(begin, end - begin));
      begin = end;
    }
    const auto merged =
        merge_pieces(pieces, [this](std::string_view left, std::string_view right) -> std::optional<double> {
          const auto it = ranks_.find(Pair(left, right));
          return it == ranks_.end() ? std::nullopt : std::optional(it->second);
        });
    for (const std::string_view piece : merged) add(piece, out);
  }

  // A merge whose result is not in the vocabulary falls apart into the characters of its bytes, each looked up by
  // itself (looking for known endings instead would be quadratic); one that is missing too becomes the unknown token
  // where there is one.
  void add(std::string_view piece, std::vector<int32_t>& out) const {
    if (const auto id = vocabulary_->find(piece)) return out.push_back(*id);
    while (!piece.empty()) {
      const size_t first = next_character(piece).bytes;
      if (const auto id = vocabulary_->find(piece.substr(0, first))) {
        out.push_back(*id);
      } else if (vocabulary_->unknown) {
        out.push_back(*vocabulary_->unknown);
      }
      piece.remove_prefix(first);
    }
  }

  const Vocabulary* vocabulary_;
  std::vector<std::string> merges_;
  std::unordered_map<Pair, double, PairHash> ranks_;  // views of merges_
  std::array<std::string, 256> written_;
  std::unordered_map<uint32_t, char> bytes_;
};

}  // namespace

Result<std::unique_ptr<Encoder>> make_byte_pair_encoder(const GgufFile& file, const Vocabulary& vocabulary) {
  auto splitting = file.string_value("tokenizer.ggml.pre", "gpt-2");
  if (!splitting) return tl::unexpected(splitting.error());
  if (*splitting != "gpt-2") {
    return fail(ErrorKind::bad_input,
                fmt::format("model '{}' splits words the way '{}' does, this engine knows 'gpt-2'; choose "
                            "another model",
                            file.path(), splitting->substr(0, 40)));
  }
  auto merges = file.string_array("tokenizer.ggml.merges");
  if (!merges) return tl::unexpected(merges.error());
  if (*merges == nullptr) {
    return fail(ErrorKind::bad_input,
                fmt::format("model '{}' has no 'tokenizer.ggml.merges'; convert the model again", file.path()));
  }
  for (const std::string& merge : **merges) {
    const size_t space = merge.find(' ', 1);
    if (space == std::string::npos || space + 1 == merge.size()) {
      return fail(ErrorKind::bad_input,
                  fmt::format("model '{}' has a merge that is not two parts; convert the model again", file.path()));
    }
  }
  return std::make_unique<BytePairEncoder>(vocabulary, **merges);
}

}  // namespace dmengine
