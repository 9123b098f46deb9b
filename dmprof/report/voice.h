// What every part of a diagnosis for people is written with. Private to this folder.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "dmprof/report/diagnosis_phrases.h"
#include "dmprof/report/style.h"

namespace dmprof::report {

struct Voice {
  const Style& style;
  rules::Language language;
  const Phrases& say = phrases(language);

  std::string coloured(rules::Severity severity) const {
    const std::string_view word = say.severity(severity);
    if (severity == rules::Severity::error) return style.bad(word);
    return severity == rules::Severity::warning ? style.warn(word) : style.dim(word);
  }
};

template <class... Arguments>
std::string sentence(std::string_view phrase, const Arguments&... arguments) {
  return fmt::format(fmt::runtime(phrase), arguments...);
}

}  // namespace dmprof::report
