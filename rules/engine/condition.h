// Evaluates a rule's condition: an SQL expression over one row of metrics, in a connection that can do nothing else.
// Rules come from users' folders too, so the expression is not trusted: an authorizer admits reading that one row and a
// short list of functions, limits and a step budget bound the work, and anything after the expression is refused.
//
// SQL's three-valued logic decides what a missing metric means: it is NULL, and a condition is NULL only where the
// missing value matters (`NULL OR true` is true).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "dmprof/base/error.h"

struct sqlite3;

namespace dmprof::rules {

class Sandbox {
 public:
  // The columns of the row; names of letters, digits and underscores.
  static Result<Sandbox> open(std::span<const std::string> columns);
  Sandbox(Sandbox&&) noexcept = default;
  Sandbox& operator=(Sandbox&&) noexcept = default;

  // What is not named is NULL. Unknown names are ignored.
  Status set_row(const std::map<std::string, double>& values);

  struct State;  // of the implementation

  struct Outcome {
    std::optional<bool> truth;      // nothing: NULL
    std::set<std::string> columns;  // that the expression reads
    std::set<std::string> parameters;
  };
  // Error (bad_input): the expression does not compile, does something forbidden, takes too long, or is not a truth
  // value.
  Result<Outcome> evaluate(const std::string& expression, const std::map<std::string, double>& parameters);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Sandbox(std::unique_ptr<sqlite3, Close> database, std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace dmprof::rules
