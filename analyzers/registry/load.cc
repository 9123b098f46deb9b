#include "analyzers/registry/load.h"

#include <limits>

#include <fmt/format.h>

namespace dmprof {
namespace {

// Calls visit(kind, vector) for every kind of event until one fails.
template <class Visit>
Status each_kind(Recording& recording, Visit&& visit) {
  DMPROF_TRY(visit(Events::slices, recording.slices));
  DMPROF_TRY(visit(Events::counters, recording.counters));
  DMPROF_TRY(visit(Events::requests, recording.requests));
  DMPROF_TRY(visit(Events::steps, recording.steps));
  DMPROF_TRY(visit(Events::speculation, recording.speculation));
  DMPROF_TRY(visit(Events::accesses, recording.accesses));
  DMPROF_TRY(visit(Events::prefetches, recording.prefetches));
  DMPROF_TRY(visit(Events::transfers, recording.transfers));
  DMPROF_TRY(visit(Events::kernels, recording.kernels));
  return visit(Events::samples, recording.samples);
}

template <class E>
Status load(const Reader& reader, Events wanted, Events kind, std::vector<E>& into) {
  if (!any(wanted & kind)) return {};
  auto events = reader.all<E>();
  if (!events) return tl::unexpected(events.error());
  into = std::move(*events);
  return {};
}

// Each kind alone may fit where all of them together do not.
Status check_room(const Reader& reader, Events wanted) {
  std::uint64_t sum = 0;
  const auto add = [&]<class E>(Events kind, const std::vector<E>&) -> Status {
    if (!any(wanted & kind)) return {};
    const auto bytes = reader.bytes_in_memory<E>();
    if (!bytes) return tl::unexpected(bytes.error());
    sum = *bytes > std::numeric_limits<std::uint64_t>::max() - sum ? std::numeric_limits<std::uint64_t>::max()
                                                                   : sum + *bytes;
    return {};
  };
  Recording recording;
  DMPROF_TRY(each_kind(recording, add));
  return reader.check_room(sum);
}

template <class T>
Status take(Result<T> from, T& into) {
  if (!from) return tl::unexpected(from.error());
  into = std::move(*from);
  return {};
}

Status load_tables(const Reader& reader, Recording& recording) {
  std::vector<ProcessRow> processes;
  std::vector<TrackRow> tracks;
  std::vector<ClockRow> clocks;
  std::vector<CapacityRow> capacities;
  std::vector<Setting> settings;
  std::vector<TrackBalance> balance;
  std::vector<std::string> names;
  DMPROF_TRY(take(reader.processes(), processes));
  DMPROF_TRY(take(reader.tracks(), tracks));
  DMPROF_TRY(take(reader.clocks(), clocks));
  DMPROF_TRY(take(reader.capacities(), capacities));
  DMPROF_TRY(take(reader.environment(), settings));
  DMPROF_TRY(take(reader.balance(), balance));
  DMPROF_TRY(take(reader.names(), names));
  DMPROF_TRY(take(reader.knobs(), recording.knobs));
  DMPROF_TRY(take(reader.losses(), recording.losses));
  for (const ProcessRow& row : processes) recording.processes[row.id] = row;
  for (const TrackRow& row : tracks) recording.tracks[row.id] = row;
  for (const ClockRow& row : clocks) recording.clocks[row.id] = row;
  for (const CapacityRow& row : capacities) recording.capacities[row.id] = row;
  for (const Setting& setting : settings) recording.environment[setting.key] = setting.value;
  recording.recorded = 0;
  // Until a recording is finished its emitters' counts lag behind the stored events, so they balance nothing yet.
  const auto run = reader.run();
  if (!run) return tl::unexpected(run.error());
  // Chunks of a file that was cut off are missing without being counted anywhere.
  recording.finished = run->end == RunEnd::finished && reader.missing_bytes() == 0;
  for (const TrackBalance& row : balance) {
    if (row.emitted && recording.finished) recording.emitted[row.track] = *row.emitted;
    recording.recorded_by_track[row.track] = row.recorded;
    *recording.recorded += row.recorded;
  }
  for (std::size_t id = 0; id < names.size(); ++id) recording.names[static_cast<NameId>(id)] = std::move(names[id]);
  return {};
}

}  // namespace

Result<Recording> load_recording(const Reader& reader, Events wanted, std::optional<std::uint32_t> process) {
  Recording recording;
  recording.loaded = wanted | Events::steps;  // steps are few and tell which process is the engine
  DMPROF_TRY(load_tables(reader, recording));
  DMPROF_TRY(check_room(reader, recording.loaded));
  DMPROF_TRY(each_kind(recording, [&]<class E>(Events kind, std::vector<E>& into) -> Status {
    return load(reader, recording.loaded, kind, into);
  }));
  recording.make_sound();
  if (process && !recording.processes.contains(*process)) {
    return fail(ErrorKind::usage,
                fmt::format("{}: holds no process {}; `dmprof query` on the table `process` lists them", reader.path(),
                            *process));
  }
  if (!process && recording.processes.size() > 1) process = recording.main_process();
  if (process && recording.processes.size() > 1) {
    const Process& kept = recording.processes[*process];
    recording.note = fmt::format("process {} ({}) of {} recorded", kept.pid, kept.name.empty() ? "unnamed" : kept.name,
                                 recording.processes.size());
    recording.keep_process(*process);
  }
  if (recording.in_virtual_time()) recording.forget_machine();
  return recording;
}

}  // namespace dmprof
