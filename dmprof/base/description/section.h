// Typed access to one mapping of a description.
//
//   Section s = document.root();
//   s.quantity("bandwidth", Quantity::bandwidth, spec.bandwidth);     required
//   s.quantity("latency", Quantity::duration, spec.latency, 0.0);     with a default
//   return s.finish();        the first error, or a key that nobody asked for
//
// Errors are sticky: reading goes on after one, and finish() reports the first by `file:line: path.key: what, how to
// mend`. A sub-section shares the error of the section it came from. Not thread-safe; every thread reads its own
// Document.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/base/quantity.h"

namespace dmprof {

struct Value;

class Section {
 public:
  Section();  // empty: for members that are assigned later
  // For Document. `path` is the dotted name of the section, "" for the root.
  Section(std::string file, std::string path, std::shared_ptr<const Value> value);

  bool has(std::string_view key) const;
  // The line of the key, or of the section where there is none; from 1.
  int line(std::string_view key) const;
  std::string where(std::string_view key) const;  // "file:line: path.key"
  const std::string& file() const { return file_; }

  void quantity(std::string_view key, Quantity kind, double& out, std::optional<double> otherwise = std::nullopt);
  // A whole number within [least, most].
  void integer(std::string_view key, std::int64_t& out, std::int64_t least, std::int64_t most,
               std::optional<std::int64_t> otherwise = std::nullopt);
  void text(std::string_view key, std::string& out, std::optional<std::string> otherwise = std::nullopt);
  void flag(std::string_view key, bool& out, std::optional<bool> otherwise = std::nullopt);
  // One of `choices`; returns its index (0 after an error).
  std::size_t choice(std::string_view key, const std::vector<std::string>& choices,
                     std::optional<std::size_t> otherwise = std::nullopt);
  // Lists; empty after an error. An absent key is an error unless `optional`.
  std::vector<double> quantities(std::string_view key, Quantity kind, bool optional = false);
  std::vector<std::string> texts(std::string_view key, bool optional = false);

  // The mapping under `key`; an empty one (whose required keys then complain) when it is absent or not a mapping.
  Section section(std::string_view key);
  // The mappings of a list; "path.key[0]" and so on. A single mapping counts as a list of one.
  std::vector<Section> sections(std::string_view key, bool optional = false);
  // Names of the keys of this mapping, in the order of the file, for mappings from free names.
  std::vector<std::string> keys() const;

  // Reports something that is wrong with the value of `key` ("" for the section itself): what, and how to mend it.
  void complain(std::string_view key, std::string_view what);

  // Call last on the root and on every sub-section: refuses keys that were never asked for (with the nearest that was).
  Status finish();
  bool ok() const;

 private:
  const Value* find(std::string_view key);
  const Value* peek(std::string_view key) const;
  const Value* needed(std::string_view key, bool optional);
  const std::string* scalar(std::string_view key, bool optional);
  std::string dotted(std::string_view key) const;

  std::string file_;
  std::string path_;
  std::shared_ptr<const Value> value_;
  std::shared_ptr<std::optional<Error>> error_;
  std::vector<std::string> asked_;
};

}  // namespace dmprof
