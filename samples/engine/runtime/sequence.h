// A request that is being worked on.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/engine/speculation/rejection.h"

namespace dmengine {

enum class Finish : std::uint8_t { running, end_of_text, max_tokens, interrupted, failed };

// Between steps of a decoding sequence the target has computed every token but the last one.
struct Sequence {
  std::size_t request = 0;    // index into the run's requests
  std::uint64_t number = 0;   // the request's id in a recording and its key for random draws, from 1
  std::uint32_t slot = 0;     // in the KV caches of target and draft
  std::vector<Token> tokens;  // the prompt, then what was emitted
  std::uint32_t prompt_tokens = 0;
  std::uint32_t limit = 0;     // tokens.size() at which it ends
  std::uint32_t computed = 0;  // positions in the target's KV cache
  Finish finish = Finish::running;

  // Of the step in progress.
  std::uint32_t chunk = 0;       // prompt tokens in it; 0 = decoding
  std::uint32_t wanted = 0;      // draft tokens that fit in
  DraftChain chain;              // what was drafted
  std::vector<Token> to_verify;  // the last token and the chain

  std::uint32_t prompt_left() const { return computed < prompt_tokens ? prompt_tokens - computed : 0; }
  std::uint32_t emitted() const { return static_cast<std::uint32_t>(tokens.size()) - prompt_tokens; }
  std::uint32_t room() const { return limit - static_cast<std::uint32_t>(tokens.size()); }
};

}  // namespace dmengine
