#include "dmprof/base/description/section.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dmprof/base/description/value.h"
#include "dmprof/base/suggest.h"

namespace dmprof {
namespace {

// Keys and values are shown without control characters and not at any length.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += (static_cast<unsigned char>(c) >= ' ' && c != 0x7f) ? c : '?';
  if (text.size() > 60) out += "...";
  return out;
}

}  // namespace

Section::Section() : Section("", "", std::make_shared<const Value>()) {}

Section::Section(std::string file, std::string path, std::shared_ptr<const Value> value)
    : file_(std::move(file)),
      path_(std::move(path)),
      value_(std::move(value)),
      error_(std::make_shared<std::optional<Error>>()) {}

std::string Section::dotted(std::string_view key) const {
  if (key.empty()) return path_;
  return path_.empty() ? shown(key) : fmt::format("{}.{}", path_, shown(key));
}

const Value* Section::peek(std::string_view key) const {
  for (const auto& [name, value] : value_->fields) {
    if (name == key) return &value;
  }
  return nullptr;
}

const Value* Section::find(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  return peek(key);
}

bool Section::has(std::string_view key) const { return peek(key) != nullptr; }

int Section::line(std::string_view key) const {
  const Value* value = peek(key);
  return value ? value->line : value_->line;
}

std::string Section::where(std::string_view key) const {
  const std::string name = dotted(key);
  return name.empty() ? fmt::format("{}:{}", file_, line(key)) : fmt::format("{}:{}: {}", file_, line(key), name);
}

void Section::complain(std::string_view key, std::string_view what) {
  if (!*error_) *error_ = Error{ErrorKind::bad_input, fmt::format("{}: {}", where(key), what)};
}

const Value* Section::needed(std::string_view key, bool optional) {
  const Value* value = find(key);
  if (value && value->kind == Value::Kind::null) {
    complain(key, "has no value; write one or remove the key");
    return nullptr;
  }
  if (value || optional) return value;
  // Where it is only misspelt, the line with the misspelling is the one to mend.
  const std::string near = nearest(key, keys());
  if (near.empty() || std::find(asked_.begin(), asked_.end(), near) != asked_.end())
    complain(key, "is missing; add it");
  else
    complain(near, fmt::format("is not a known key (did you mean \"{}\"?)", key));
  return nullptr;
}

const std::string* Section::scalar(std::string_view key, bool optional) {
  const Value* value = needed(key, optional);
  if (!value) return nullptr;
  if (value->kind != Value::Kind::scalar) {
    complain(key, "must be a single value, not a list or mapping");
    return nullptr;
  }
  return &value->text;
}

void Section::quantity(std::string_view key, Quantity kind, double& out, std::optional<double> otherwise) {
  if (otherwise) out = *otherwise;
  const std::string* text = scalar(key, otherwise.has_value());
  if (!text) return;
  const Result<double> value = parse_quantity(*text, kind);
  if (value)
    out = *value;
  else
    complain(key, value.error().message);
}

void Section::integer(std::string_view key, std::int64_t& out, std::int64_t least, std::int64_t most,
                      std::optional<std::int64_t> otherwise) {
  if (otherwise) out = *otherwise;
  const std::string* text = scalar(key, otherwise.has_value());
  if (!text) return;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc::invalid_argument || end != text->data() + text->size()) {
    complain(key, fmt::format("\"{}\" is not a whole number; write one between {} and {}", shown(*text), least, most));
  } else if (error != std::errc() || value < least || value > most) {
    complain(key, fmt::format("{} is out of range; write a number between {} and {}", shown(*text), least, most));
  } else {
    out = value;
  }
}

void Section::text(std::string_view key, std::string& out, std::optional<std::string> otherwise) {
  const std::string* text = scalar(key, otherwise.has_value());
  if (otherwise) out = *otherwise;
  if (text) out = *text;
}

void Section::flag(std::string_view key, bool& out, std::optional<bool> otherwise) {
  if (otherwise) out = *otherwise;
  const std::string* text = scalar(key, otherwise.has_value());
  if (!text) return;
  if (*text == "true" || *text == "false")
    out = *text == "true";
  else
    complain(key, fmt::format("\"{}\" is neither true nor false; write one of them", shown(*text)));
}

std::size_t Section::choice(std::string_view key, const std::vector<std::string>& choices,
                            std::optional<std::size_t> otherwise) {
  const std::string* text = scalar(key, otherwise.has_value());
  if (!text) return otherwise.value_or(0);
  const auto found = std::find(choices.begin(), choices.end(), *text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  const std::string near = nearest(*text, choices);
  complain(key, fmt::format("\"{}\" is not one of {}{}", shown(*text), fmt::join(choices, ", "),
                            near.empty() ? "; write one of them" : fmt::format(" (did you mean \"{}\"?)", near)));
  return 0;
}

std::vector<double> Section::quantities(std::string_view key, Quantity kind, bool optional) {
  std::vector<double> all;
  for (const std::string& text : texts(key, optional)) {
    const Result<double> value = parse_quantity(text, kind);
    if (!value) {
      complain(key, value.error().message);
      return {};
    }
    all.push_back(*value);
  }
  return all;
}

std::vector<std::string> Section::texts(std::string_view key, bool optional) {
  const Value* value = needed(key, optional);
  if (!value) return {};
  if (value->kind == Value::Kind::scalar) return {value->text};
  std::vector<std::string> all;
  for (const Value& item : value->items) {
    if (item.kind != Value::Kind::scalar) {
      complain(key, "every entry must be a single value");
      return {};
    }
    all.push_back(item.text);
  }
  if (all.empty()) complain(key, "must be a list that is not empty");
  return all;
}

Section Section::section(std::string_view key) {
  const Value* value = needed(key, false);
  auto held = std::make_shared<Value>();
  held->kind = Value::Kind::map;
  held->line = line(key);
  if (value && value->kind == Value::Kind::map)
    *held = *value;
  else if (value)
    complain(key, "must be a mapping: indented `key: value` lines");
  Section child(file_, dotted(key), std::move(held));
  child.error_ = error_;
  return child;
}

std::vector<Section> Section::sections(std::string_view key, bool optional) {
  const Value* value = needed(key, optional);
  std::vector<Section> all;
  if (!value) return all;
  if (value->kind == Value::Kind::map) return {section(key)};
  for (const Value& item : value->items) {
    if (item.kind != Value::Kind::map) {
      complain(key, "every entry must be a mapping");
      return {};
    }
    all.emplace_back(file_, fmt::format("{}[{}]", dotted(key), all.size()), std::make_shared<Value>(item));
    all.back().error_ = error_;
  }
  if (all.empty()) complain(key, "must be a list that is not empty");
  return all;
}

std::vector<std::string> Section::keys() const {
  std::vector<std::string> all;
  for (const auto& [name, value] : value_->fields) all.push_back(name);
  return all;
}

Status Section::finish() {
  for (const auto& [name, value] : value_->fields) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    const std::string near = nearest(name, asked_);
    complain(name, near.empty() ? std::string("is not a known key; remove it")
                                : fmt::format("is not a known key (did you mean \"{}\"?)", near));
  }
  if (*error_) return tl::unexpected(**error_);
  return {};
}

bool Section::ok() const { return !error_->has_value(); }

}  // namespace dmprof
