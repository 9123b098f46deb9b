// A node of a YAML or JSON document that knows where it stands: every question either answers with a value inside the
// asked range or remembers the first thing that was wrong, as "file:line: key: what". Callers ask everything and look
// at the verdict once; a wrong value reads as the lowest allowed one.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dmprof/base/error.h"

namespace dmprof::twin {

class CheckedNode {
 public:
  CheckedNode(YAML::Node node, const std::string& file)
      : node_(std::move(node)), trouble_(std::make_shared<Trouble>()) {
    trouble_->file = file;
  }

  CheckedNode at(const char* key) const;                    // of a map
  std::vector<CheckedNode> items(std::size_t most) const;   // of a list
  std::vector<CheckedNode> values(std::size_t most) const;  // of a map, keys as key()
  const std::string& key() const { return key_; }

  std::string text() const;
  bool yes() const;
  double number(double low, double high) const;
  std::uint64_t whole(std::uint64_t low, std::uint64_t high) const;
  std::vector<double> numbers(double low, double high, std::size_t most) const;

  void wrong(const std::string& what) const;
  Status verdict() const;  // the first thing that was wrong, bad_input

 private:
  struct Trouble {
    std::string file, message;
  };
  CheckedNode(YAML::Node node, std::string key, std::shared_ptr<Trouble> trouble)
      : node_(std::move(node)), key_(std::move(key)), trouble_(std::move(trouble)) {}

  YAML::Node node_;
  std::string key_;
  std::shared_ptr<Trouble> trouble_;
};

inline constexpr std::size_t kMostDrafts = 64, kMostLookahead = 1024;

// Refuses what is no fit file of this version.
void check_format(const CheckedNode& root);

// A whole file's text; environment where it cannot be read.
Result<std::string> text_of_file(const std::string& path);
Result<YAML::Node> load_yaml(const std::string& text, const std::string& name);
Error broken_yaml(const std::string& name, const YAML::Exception& error);

// What `read` (CheckedNode -> Result) makes of a YAML or JSON text; `name` stands for the file in errors.
template <class Read>
auto read_checked(const std::string& text, const std::string& name, Read&& read)
    -> decltype(read(std::declval<const CheckedNode&>())) {
  const Result<YAML::Node> node = load_yaml(text, name);
  if (!node) return tl::unexpected(node.error());
  try {
    return read(CheckedNode(*node, name));
  } catch (const YAML::Exception& error) {
    return tl::unexpected(broken_yaml(name, error));
  }
}

}  // namespace dmprof::twin
