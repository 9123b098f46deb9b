// A YAML description file: parsed once, then read through Sections. Nothing of yaml-cpp (which throws) is visible
// outside.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dmprof/base/description/section.h"
#include "dmprof/base/error.h"

namespace dmprof {

// Files above 1 MiB, nested deeper than 32, with duplicate keys, aliases or several documents are refused: a
// description needs none of them.
class Document {
 public:
  static Result<Document> load(const std::string& path);
  // `name` stands for the file in messages.
  static Result<Document> parse(std::string_view text, std::string name);

  // The top mapping. The document must outlive nothing: a Section keeps what it needs.
  Section root() const { return root_; }
  const std::string& name() const { return name_; }

 private:
  Document(Section root, std::string name) : root_(std::move(root)), name_(std::move(name)) {}
  Section root_;
  std::string name_;
};

}  // namespace dmprof
