// The findings of a diagnosis for people: evidence, fixes and what trying them gave. Private to this folder.
#pragma once

#include <string>

#include "dmprof/report/voice.h"
#include "rules/engine/diagnose.h"

namespace dmprof::report {

// Every finding in its order. A definition or a fix that an earlier one told already is not told again.
std::string findings_text(const rules::Diagnosis& diagnosis, const Voice& voice);

}  // namespace dmprof::report
