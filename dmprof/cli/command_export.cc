// dmprof export: a recording in the formats of other tools.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "dmprof/base/output.h"
#include "dmprof/base/suggest.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/coverage.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/output_file.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/export/chrome.h"
#include "dmprof/export/csv.h"
#include "dmprof/export/perfetto.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/store/reader.h"

namespace dmprof::cli {

namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string file;
  std::string format;
  std::string output;
  std::string table;
  bool force = false;
};

// The files that were written; "-" for standard output.
using Written = Result<std::vector<std::string>>;

using OpenOutput = std::unique_ptr<Output>;

// --force or not, what is being read, and what a recorder still writes, is never replaced.
Result<OpenOutput> open_output(const fs::path& recording, const std::string& path, bool force) {
  std::error_code ignored;
  if (force && path != "-" && (fs::equivalent(recording, path, ignored) || is_being_recorded(path))) {
    return fail(ErrorKind::usage,
                fmt::format("{} is {}; choose another name with -o", path,
                            fs::equivalent(recording, path, ignored) ? "the recording that is exported"
                                                                     : "still being recorded"));
  }
  return Output::open(path, force);
}

Written export_timeline(const fs::path& recording, const Flags& flags) {
  auto reader = Reader::open(recording.string());
  if (!reader) return tl::unexpected(reader.error());
  const bool perfetto = flags.format == "perfetto";
  const std::string path =
      !flags.output.empty() ? flags.output : recording.stem().string() + (perfetto ? ".pftrace" : ".json");
  auto output = open_output(recording, path, flags.force);
  if (!output) return tl::unexpected(output.error());
  DMPROF_TRY(perfetto ? exporting::write_perfetto(*reader, **output) : exporting::write_chrome(*reader, **output));
  DMPROF_TRY((*output)->close());
  return std::vector{path};
}

Written export_csv(const fs::path& recording, const Flags& flags) {
  const std::vector<std::string> tables = exporting::csv_tables();
  if (!flags.table.empty() && std::find(tables.begin(), tables.end(), flags.table) == tables.end()) {
    return fail(ErrorKind::usage, fmt::format("there is no table {}{}; there are {}", flags.table,
                                              did_you_mean(flags.table, tables), fmt::join(tables, ", ")));
  }
  const auto write_one = [&](const std::string& table, const std::string& path) -> Result<OpenOutput> {
    auto output = open_output(recording, path, flags.force);
    if (!output) return output;
    if (Status written = exporting::write_csv(recording.string(), table, **output); !written)
      return tl::unexpected(written.error());
    return output;
  };
  if (!flags.table.empty()) {
    const std::string path = flags.output.empty() ? "-" : flags.output;
    const auto output = write_one(flags.table, path);
    if (!output) return tl::unexpected(output.error());
    DMPROF_TRY((*output)->close());
    return std::vector{path};
  }
  if (flags.output == "-")
    return fail(ErrorKind::usage,
                "several tables cannot share standard output; choose one with --table, or name a directory with -o");
  const fs::path folder = flags.output.empty() ? fs::path(recording.stem().string() + "-csv") : fs::path(flags.output);
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error)
    return fail(ErrorKind::environment, fmt::format("cannot create the directory {}: {}; choose another place with -o",
                                                    folder.string(), error.message()));
  std::vector<std::string> files;
  // Every table is written before the first one takes its name: some tables of many are of no use.
  std::vector<OpenOutput> outputs;
  const auto write_all = [&]() -> Status {
    for (const std::string& table : tables) {
      files.push_back((folder / (table + ".csv")).string());
      auto output = write_one(table, files.back());
      if (!output) return tl::unexpected(output.error());
      outputs.push_back(std::move(*output));
    }
    for (const OpenOutput& output : outputs) DMPROF_TRY(output->close());
    return {};
  };
  if (Status written = write_all(); !written) {
    outputs.clear();
    if (made) fs::remove_all(folder, error);
    return tl::unexpected(written.error());
  }
  return files;
}

Result<ExitStatus> export_command(const Flags& flags, bool json) {
  const std::vector<std::string> formats = {"perfetto", "chrome", "csv"};
  if (flags.format.empty()) return fail(ErrorKind::usage, "dmprof export needs --format perfetto, chrome or csv");
  if (std::find(formats.begin(), formats.end(), flags.format) == formats.end()) {
    return fail(ErrorKind::usage, fmt::format("--format: there is no format {}{}; there are perfetto, chrome and csv",
                                              flags.format, did_you_mean(flags.format, formats)));
  }
  if (!flags.table.empty() && flags.format != "csv")
    return fail(ErrorKind::usage, "--table goes with --format csv only");
  auto recording = recording_or_newest(flags.file);
  if (!recording) return tl::unexpected(recording.error());
  const bool to_stdout = flags.output == "-" || (!flags.table.empty() && flags.output.empty());
  if (json && to_stdout)
    return fail(ErrorKind::usage, "--json and the export would share standard output; name a file with -o");
  if (const std::string note = cut_off_note(recording->string()); !note.empty()) fmt::print(stderr, "note: {}\n", note);
  const Written written = flags.format == "csv" ? export_csv(*recording, flags) : export_timeline(*recording, flags);
  if (!written) return tl::unexpected(written.error());
  if (json) {
    const nlohmann::ordered_json object = {{"run", recording->string()}, {"format", flags.format}, {"files", *written}};
    DMPROF_TRY(write_out(report::dump(object) + "\n"));
  } else if (!to_stdout) {
    fmt::print(stderr, "wrote {}\n",
               written->size() == 1 ? written->front()
                                    : fmt::format("{} tables to {}", written->size(),
                                                  fs::path(written->front()).parent_path().string()));
  }
  return ExitStatus::done;
}

}  // namespace

DeclaredCommand declare_export(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("export", "Write a recording for other tools: Perfetto, Chrome trace JSON, CSV");
  auto flags = std::make_shared<Flags>();
  app.text("FILE", flags->file, "", "Recording; the newest one when left out");
  app.text("--format", flags->format, "FORMAT", "perfetto, chrome or csv");
  app.text("-o,--output", flags->output, "OUT", "File to write (csv: directory); - is standard output");
  app.text("--table", flags->table, "NAME", "csv: only this table, to standard output unless -o names a file");
  app.flag("--force", flags->force, "Replace a file that is no earlier export of the same kind");
  app.flag("--json", shared->json, "Print {\"run\",\"format\",\"files\":[…]}");
  return {app, [flags, shared] { return export_command(*flags, shared->json); }};
}

}  // namespace dmprof::cli
