#include "dmprof/base/description/document.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "dmprof/base/description/value.h"

namespace dmprof {
namespace {

constexpr std::uintmax_t largest_file = 1 << 20;
constexpr int deepest = 32;

// A complaint about the text; caught in Document::parse.
struct Wrong {
  int line;
  std::string what;
};

// Shared nodes (aliases) would let a few lines stand for billions of values, so the number of values is bounded as
// well.
constexpr int most_values = 100'000;

Value convert(const YAML::Node& node, int depth, int& values) {
  Value value;
  value.line = node.Mark().line + 1;
  if (depth > deepest) throw Wrong{value.line, fmt::format("nested deeper than {} levels; flatten it", deepest)};
  if (++values > most_values) throw Wrong{value.line, fmt::format("more than {} values; split the file", most_values)};
  if (node.IsScalar()) {
    value.kind = Value::Kind::scalar;
    value.text = node.Scalar();
  } else if (node.IsSequence()) {
    value.kind = Value::Kind::list;
    for (const YAML::Node& item : node) value.items.push_back(convert(item, depth + 1, values));
  } else if (node.IsMap()) {
    value.kind = Value::Kind::map;
    for (const auto& entry : node) {
      const int line = entry.first.Mark().line + 1;
      if (!entry.first.IsScalar()) throw Wrong{line, "a key must be a word; quote it or rename it"};
      for (const auto& [known, unused] : value.fields) {
        if (known == entry.first.Scalar()) throw Wrong{line, known + ": stands here twice; keep one"};
      }
      value.fields.push_back({entry.first.Scalar(), convert(entry.second, depth + 1, values)});
      value.fields.back().value.line = line;
    }
  }
  return value;
}

}  // namespace

Result<Document> Document::load(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, error))
    return fail(ErrorKind::bad_input, fmt::format("{}: is a directory; name a description (.yaml) in it", path));
  if (!std::filesystem::is_regular_file(file, error))
    return fail(ErrorKind::environment, fmt::format("{}: no such file; name a description (.yaml)", path));
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error || size > largest_file)
    return fail(ErrorKind::bad_input, fmt::format("{}: larger than 1 MiB; a description is a few lines", path));
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorKind::environment, fmt::format("{}: cannot be read; check its permissions", path));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return parse(text, path);
}

Result<Document> Document::parse(std::string_view text, std::string name) {
  if (text.size() > largest_file)
    return fail(ErrorKind::bad_input, fmt::format("{}: larger than 1 MiB; a description is a few lines", name));
  try {
    const std::vector<YAML::Node> all = YAML::LoadAll(std::string(text));
    if (all.empty() || !all.front().IsMap())
      return fail(ErrorKind::bad_input, fmt::format("{}:1: the file must hold `key: value` lines", name));
    if (all.size() > 1)
      return fail(ErrorKind::bad_input, fmt::format("{}: holds {} documents; keep one", name, all.size()));
    int values = 0;
    auto tree = std::make_shared<const Value>(convert(all.front(), 0, values));
    return Document(Section(name, "", tree), name);
  } catch (const YAML::Exception& bad) {
    return fail(ErrorKind::bad_input,
                fmt::format("{}:{}: not valid YAML: {}; mend the line", name, bad.mark.line + 1, bad.msg));
  } catch (const Wrong& wrong) {
    return fail(ErrorKind::bad_input, fmt::format("{}:{}: {}", name, wrong.line, wrong.what));
  }
}

}  // namespace dmprof
