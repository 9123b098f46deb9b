#include "samples/simcard/fit/checked_node.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace dmprof::twin {
namespace {

constexpr std::size_t kMostFileBytes = 256U << 20;

}  // namespace

void check_format(const CheckedNode& root) {
  if (root.at("format").whole(0, UINT32_MAX) != 1) root.at("format").wrong("is not 1: written by another version");
}

Result<std::string> text_of_file(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    return fail(ErrorKind::bad_input, fmt::format("{}: is a directory; name what dm-simcard fit wrote", path));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in && (text << in.rdbuf())) return text.str();
  return fail(ErrorKind::environment,
              fmt::format("cannot read {}: {}", path, errno != 0 ? std::strerror(errno) : "it is empty"));
}

Error broken_yaml(const std::string& name, const YAML::Exception& error) {
  return {ErrorKind::bad_input,
          fmt::format("{}:{}: {}; a file written by dm-simcard fit is needed", name, error.mark.line + 1, error.msg)};
}

Result<YAML::Node> load_yaml(const std::string& text, const std::string& name) {
  if (text.size() > kMostFileBytes)
    return fail(ErrorKind::bad_input, name + ": larger than 256 MiB; this is no fitted twin");
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return tl::unexpected(broken_yaml(name, error));
  }
}

void CheckedNode::wrong(const std::string& what) const {
  if (!trouble_->message.empty()) return;
  const int line = node_.IsDefined() ? node_.Mark().line : -1;
  trouble_->message = line < 0 ? fmt::format("{}: {}: {}; fit again", trouble_->file, key_, what)
                               : fmt::format("{}:{}: {}: {}; fit again", trouble_->file, line + 1, key_, what);
}

Status CheckedNode::verdict() const {
  if (trouble_->message.empty()) return {};
  return fail(ErrorKind::bad_input, trouble_->message);
}

CheckedNode CheckedNode::at(const char* key) const {
  const YAML::Node& map = node_;  // a lookup through a const node does not add the key
  if (map.IsDefined() && map.IsMap()) {
    const YAML::Node found = map[key];
    if (found.IsDefined()) return {found, key, trouble_};
  }
  CheckedNode(node_, key, trouble_).wrong("is missing");
  return {YAML::Node(), key, trouble_};
}

std::vector<CheckedNode> CheckedNode::items(std::size_t most) const {
  std::vector<CheckedNode> list;
  if (!node_.IsDefined() || !node_.IsSequence()) {
    wrong("must be a list");
    return list;
  }
  if (node_.size() > most) {
    wrong(fmt::format("has {} entries, at most {} are possible", node_.size(), most));
    return list;
  }
  for (const YAML::Node& each : node_) list.push_back({each, fmt::format("{}[{}]", key_, list.size()), trouble_});
  return list;
}

std::vector<CheckedNode> CheckedNode::values(std::size_t most) const {
  std::vector<CheckedNode> list;
  if (!node_.IsDefined() || !node_.IsMap() || node_.size() > most) {
    wrong("must be a map");
    return list;
  }
  for (const auto& each : node_) {
    list.push_back({each.second, each.first.IsScalar() ? each.first.Scalar() : "", trouble_});
  }
  return list;
}

std::string CheckedNode::text() const {
  if (node_.IsDefined() && node_.IsScalar()) return node_.Scalar();
  wrong("must be a text");
  return {};
}

bool CheckedNode::yes() const {
  const std::string value = text();
  if (value != "true" && value != "false") wrong("must be true or false");
  return value == "true";
}

double CheckedNode::number(double low, double high) const {
  const std::string value = text();
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number >= low && number <= high) return number;
  wrong(fmt::format("must be a number from {} to {}", low, high));
  return low;
}

std::uint64_t CheckedNode::whole(std::uint64_t low, std::uint64_t high) const {
  const std::string value = text();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number >= low && number <= high) return number;
  wrong(fmt::format("must be a whole number from {} to {}", low, high));
  return low;
}

std::vector<double> CheckedNode::numbers(double low, double high, std::size_t most) const {
  std::vector<double> list;
  for (const CheckedNode& each : items(most)) list.push_back(each.number(low, high));
  return list;
}

}  // namespace dmprof::twin
