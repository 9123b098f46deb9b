// The playbook as a page for people, made from the rules themselves (docs/playbook.md).
#pragma once

#include <span>
#include <string>

#include "rules/engine/rule.h"

namespace dmprof::report {

// Markdown: an overview table, then a section a rule. The same rules give the same page.
std::string playbook_markdown(std::span<const rules::Rule> rules);

}  // namespace dmprof::report
