#include "rules/engine/condition.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include "dmprof/base/suggest.h"

namespace dmprof::rules {

struct Sandbox::State {
  std::vector<std::string> columns;
  std::set<std::string> read;  // by the expression being compiled
  std::string refused;         // what the authorizer turned down
  int steps_left = 0;
};

namespace {

constexpr std::string_view table = "metrics";
constexpr std::string_view opening = "SELECT (\n";
constexpr int steps_per_call = 1000;  // virtual machine instructions between two looks at the budget
constexpr int most_calls = 100;
constexpr std::size_t longest_expression = 2000;
constexpr std::array functions = {"abs", "coalesce", "ifnull", "iif", "max", "min", "nullif", "round"};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

// With the place in the expression, and for a mistyped metric the one that may be meant.
std::string does_not_compile(sqlite3* database, const std::string& expression, const Sandbox::State& state) {
  if (!state.refused.empty()) return fmt::format("the condition '{}' does not compile: {}", expression, state.refused);
  const std::string said = sqlite3_errmsg(database);
  const int offset = sqlite3_error_offset(database) - static_cast<int>(opening.size());
  const bool inside = offset >= 0 && offset < static_cast<int>(expression.size());
  constexpr std::string_view unknown = "no such column: ";
  std::string meant;
  if (said.starts_with(unknown)) meant = did_you_mean(said.substr(unknown.size()), state.columns);
  return fmt::format("the condition '{}' does not compile{}: {}{}", expression,
                     inside ? fmt::format(" at character {}", offset + 1) : "", said, meant);
}

bool plain_name(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool is(const char* text, std::string_view expected) { return text != nullptr && expected == text; }

Error broken(sqlite3* database, std::string_view what) {
  return {ErrorKind::environment, fmt::format("{}: {}", what, sqlite3_errmsg(database))};
}

void set_limits(sqlite3* database) {
  const std::array<std::pair<int, int>, 9> limits = {{{SQLITE_LIMIT_LENGTH, 65536},
                                                      {SQLITE_LIMIT_SQL_LENGTH, 65536},
                                                      {SQLITE_LIMIT_EXPR_DEPTH, 50},
                                                      {SQLITE_LIMIT_COMPOUND_SELECT, 1},
                                                      {SQLITE_LIMIT_VDBE_OP, 20000},
                                                      {SQLITE_LIMIT_FUNCTION_ARG, 8},
                                                      {SQLITE_LIMIT_ATTACHED, 0},
                                                      {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64},
                                                      {SQLITE_LIMIT_TRIGGER_DEPTH, 0}}};
  for (const auto& [limit, value] : limits) sqlite3_limit(database, limit, value);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
}

}  // namespace

void Sandbox::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Sandbox::Sandbox(std::unique_ptr<sqlite3, Close> database, std::shared_ptr<State> state)
    : state_(std::move(state)), database_(std::move(database)) {}

Result<Sandbox> Sandbox::open(std::span<const std::string> columns) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(
      ":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<sqlite3, Close> database(raw);
  if (opened != SQLITE_OK) return fail(ErrorKind::environment, "cannot open an in-memory database; free some memory");
  auto state = std::make_shared<State>();
  std::string sql = fmt::format("CREATE TABLE {}(", table);
  for (const std::string& column : columns) {
    if (!plain_name(column)) return fail(ErrorKind::bad_input, fmt::format("'{}' cannot be a metric's name", column));
    sql += fmt::format("{}\"{}\" REAL", state->columns.empty() ? "" : ", ", column);
    state->columns.push_back(column);
  }
  sql += ")";
  if (columns.empty()) return fail(ErrorKind::bad_input, "there are no metrics to write conditions over");
  if (sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return tl::unexpected(broken(raw, "cannot make the metric row"));
  set_limits(raw);
  Sandbox sandbox(std::move(database), std::move(state));
  DMPROF_TRY(sandbox.set_row({}));
  return sandbox;
}

Status Sandbox::set_row(const std::map<std::string, double>& values) {
  sqlite3* database = database_.get();
  sqlite3_set_authorizer(database, nullptr, nullptr);
  sqlite3_progress_handler(database, 0, nullptr, nullptr);
  std::string sql = fmt::format("INSERT INTO {} VALUES(", table);
  for (std::size_t i = 0; i < state_->columns.size(); ++i) sql += i == 0 ? "?" : ",?";
  sql += ")";
  if (sqlite3_exec(database, "DELETE FROM metrics", nullptr, nullptr, nullptr) != SQLITE_OK)
    return tl::unexpected(broken(database, "cannot clear the metric row"));
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &raw, nullptr) != SQLITE_OK)
    return tl::unexpected(broken(database, "cannot fill the metric row"));
  const Statement insert(raw);
  for (std::size_t i = 0; i < state_->columns.size(); ++i) {
    const auto found = values.find(state_->columns[i]);
    if (found != values.end() && std::isfinite(found->second))
      sqlite3_bind_double(raw, static_cast<int>(i) + 1, found->second);
  }
  if (sqlite3_step(raw) != SQLITE_DONE) return tl::unexpected(broken(database, "cannot fill the metric row"));
  return {};
}

Result<Sandbox::Outcome> Sandbox::evaluate(const std::string& expression,
                                           const std::map<std::string, double>& parameters) {
  sqlite3* database = database_.get();
  if (expression.size() > longest_expression)
    return fail(ErrorKind::bad_input, fmt::format("the condition is longer than {} characters", longest_expression));
  for (const char* forbidden : {";", "--", "/*"}) {
    if (expression.find(forbidden) != std::string::npos)
      return fail(ErrorKind::bad_input, fmt::format("'{}' has no place in a condition", forbidden));
  }
  state_->read.clear(), state_->refused.clear();
  state_->steps_left = most_calls;
  struct Hooks {
    static int authorize(void* context, int action, const char* first, const char* second, const char*, const char*) {
      State& state = *static_cast<State*>(context);
      if (action == SQLITE_SELECT) return SQLITE_OK;
      if (action == SQLITE_READ && is(first, table)) {
        if (second != nullptr && *second != '\0') state.read.insert(second);
        return SQLITE_OK;
      }
      const auto known = [second](const char* name) { return second != nullptr && sqlite3_stricmp(name, second) == 0; };
      if (action == SQLITE_FUNCTION && std::any_of(functions.begin(), functions.end(), known)) return SQLITE_OK;
      if (state.refused.empty()) {
        state.refused = action == SQLITE_FUNCTION
                            ? fmt::format("the function {}() is not allowed", second != nullptr ? second : "?")
                            : fmt::format("only the metric row may be read{}{}", first != nullptr ? ", not " : "",
                                          first != nullptr ? first : "");
      }
      return SQLITE_DENY;
    }
    static int count(void* context) { return --static_cast<State*>(context)->steps_left < 0 ? 1 : 0; }
  };
  sqlite3_set_authorizer(database, &Hooks::authorize, state_.get());
  sqlite3_progress_handler(database, steps_per_call, &Hooks::count, state_.get());

  const std::string sql = fmt::format("{}{}\n) FROM {}", opening, expression, table);
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int prepared = sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &raw, &tail);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) {
    return fail(ErrorKind::bad_input, does_not_compile(database, expression, *state_));
  }
  if (raw == nullptr || (tail != nullptr && *tail != '\0') || sqlite3_column_count(raw) != 1) {
    return fail(ErrorKind::bad_input, fmt::format("'{}' is not one expression", expression));
  }
  Outcome outcome;
  outcome.columns = state_->read;
  for (int i = 1; i <= sqlite3_bind_parameter_count(raw); ++i) {
    const char* name = sqlite3_bind_parameter_name(raw, i);
    const auto value = name == nullptr || name[0] != ':' ? parameters.end() : parameters.find(name + 1);
    if (value == parameters.end()) {
      return fail(ErrorKind::bad_input, fmt::format("the condition '{}' uses {}, which is no threshold of the rule",
                                                    expression, name == nullptr ? "?" : name));
    }
    sqlite3_bind_double(raw, i, value->second);
    outcome.parameters.insert(value->first);
  }
  const int stepped = sqlite3_step(raw);
  if (stepped == SQLITE_INTERRUPT)
    return fail(ErrorKind::bad_input, fmt::format("the condition '{}' takes too long", expression));
  if (stepped != SQLITE_ROW)
    return fail(ErrorKind::bad_input,
                fmt::format("the condition '{}' fails: {}", expression, sqlite3_errmsg(database)));
  const int type = sqlite3_column_type(raw, 0);
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
    outcome.truth = sqlite3_column_double(raw, 0) != 0;
  } else if (type != SQLITE_NULL) {
    return fail(ErrorKind::bad_input, fmt::format("the condition '{}' is text, not a truth value", expression));
  }
  return outcome;
}

}  // namespace dmprof::rules
