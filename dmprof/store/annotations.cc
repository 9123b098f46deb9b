#include "dmprof/store/annotations.h"

#include <functional>

#include "dmprof/base/process.h"
#include "dmprof/store/connection.h"
#include "dmprof/store/statement.h"

namespace dmprof {

using store::Statement;

struct Annotations::State {
  std::string path;
  store::Database database;

  // Runs `body` in one transaction.
  Status all_or_nothing(const std::function<Status(sqlite3*)>& body) {
    sqlite3* connection = database.get();
    Status done = store::execute(connection, "BEGIN IMMEDIATE");
    if (done) done = body(connection);
    if (done) done = store::execute(connection, "COMMIT");
    if (!done) {
      sqlite3_exec(connection, "ROLLBACK", nullptr, nullptr, nullptr);
      done.error().message = path + ": " + done.error().message;
    }
    return done;
  }
};

Annotations::Annotations(std::unique_ptr<State> state) : state_(std::move(state)) {}
Annotations::Annotations(Annotations&&) noexcept = default;
Annotations& Annotations::operator=(Annotations&&) noexcept = default;
Annotations::~Annotations() = default;

Result<Annotations> Annotations::open(const std::string& path) {
  {
    auto looked = store::open_read_only(path);
    if (!looked) return tl::unexpected(looked.error());
    auto recorder =
        Statement::prepare(looked->get(), "SELECT recorder_pid, recorder_start FROM run WHERE finished IS NULL");
    if (!recorder) return tl::unexpected(recorder.error());
    const Result<bool> unfinished = recorder->step();
    if (unfinished && *unfinished && is_alive(recorder->integer(0), static_cast<std::uint64_t>(recorder->integer(1)))) {
      return fail(ErrorKind::environment, path + ": still being recorded by process " +
                                              std::to_string(recorder->integer(0)) + "; wait until it ends");
    }
  }
  auto database = store::open_read_write(path);
  if (!database) return tl::unexpected(database.error());
  auto state = std::make_unique<State>();
  state->path = path;
  state->database = std::move(*database);
  return Annotations(std::move(state));
}

Status Annotations::store_metrics(std::span<const StoredMetric> metrics) {
  return state_->all_or_nothing([&](sqlite3* connection) -> Status {
    auto insert = Statement::prepare(connection, "INSERT OR REPLACE INTO metric VALUES (?1, ?2, ?3)");
    if (!insert) return tl::unexpected(insert.error());
    for (const StoredMetric& metric : metrics) {
      insert->bind(metric.name, metric.definition, metric.json);
      DMPROF_TRY(insert->run());
    }
    return {};
  });
}

Status Annotations::replace_findings(std::span<const StoredFinding> findings) {
  return state_->all_or_nothing([&](sqlite3* connection) -> Status {
    DMPROF_TRY(store::execute(connection, "DELETE FROM finding"));
    auto insert = Statement::prepare(connection, "INSERT INTO finding (rule, severity, json) VALUES (?1, ?2, ?3)");
    if (!insert) return tl::unexpected(insert.error());
    for (const StoredFinding& finding : findings) {
      insert->bind(finding.rule, finding.severity, finding.json);
      DMPROF_TRY(insert->run());
    }
    return {};
  });
}

Status Annotations::set_environment(const std::string& key, const std::string& value) {
  return state_->all_or_nothing([&](sqlite3* connection) -> Status {
    auto insert = Statement::prepare(connection, "INSERT OR REPLACE INTO environment VALUES (?1, ?2)");
    if (!insert) return tl::unexpected(insert.error());
    // Named: what is bound must live until the statement has run.
    const std::string clean_key = store::clean_text(key);
    const std::string clean_value = store::clean_text(value);
    insert->bind(clean_key, clean_value);
    return insert->run();
  });
}

}  // namespace dmprof
