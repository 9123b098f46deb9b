// What one recording gives to a fit, before several are put together.
#pragma once

#include <string>
#include <vector>

#include "samples/simcard/fit/fit.h"
#include "samples/simcard/fit/passes.h"

namespace dmprof::twin {

struct Part {
  const NamedRecording* source = nullptr;
  Settings settings;
  std::string backing;
  std::uint32_t threads = 0;
  bool greedy = true;
  std::vector<RecordedPass> passes;
  RecordedTexts texts;
};

// An error says which file it is about.
template <class T>
Result<T> in_file(const NamedRecording& source, Result<T> result) {
  if (!result) return fail(result.error().kind, source.file + ": " + result.error().message);
  return result;
}

// cannot_answer: not a whole recording of a speculating dm-engine with streamed weights; the message says what is
// missing.
Result<Part> read_part(const NamedRecording& source);

// usage where two recordings are not of one machine, engine and list of requests.
Status belong_together(const Part& base, const Part& part);

}  // namespace dmprof::twin
