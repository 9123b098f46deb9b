// Speed and size of recordings, against TARGETS.md "Recording and queries". DMPROF_BENCH_EVENTS sets the number of
// events (default 10 million), DMPROF_BENCH_ROWS and DMPROF_BENCH_LEVEL chunk size and compression; the recording lies
// in TMPDIR.
#include <benchmark/benchmark.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "dmprof/store/quantiles.h"
#include "dmprof/store/query.h"
#include "dmprof/store/reader.h"
#include "dmprof/store/writer.h"

namespace dmprof {
namespace {

constexpr std::size_t batch = 2048;

long setting(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

std::size_t event_count() {
  return static_cast<std::size_t>(setting("DMPROF_BENCH_EVENTS", 10'000'000)) / batch * batch;
}

std::string bench_path(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::string("dmprof-bench-") + name + ".dmprof")).string();
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// A batch of slices as a decode loop makes them: 12 names in turn, a length typical of each. With arguments, step and
// argument vary too.
std::vector<Event> make_batch() {
  std::vector<Event> events;
  for (std::size_t i = 0; i < batch; ++i) {
    const auto name = static_cast<NameId>(1 + i % 12);
    events.emplace_back(Slice{.track = static_cast<TrackId>(1 + i / (batch / 2)), .name = name});
  }
  return events;
}

// Gives the batch the next stretch of time, 300 ns an event, and fresh noise: 64 values of it in the start, 256 in the
// duration, so that a compressor finds no repetition that a real engine would not show.
class Noise {
 public:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_ = 88172645463325252;
};

void move_on(std::vector<Event>& events, TimeNs& clock, bool arguments, Noise& noise) {
  for (Event& event : events) {
    Slice& slice = *std::get_if<Slice>(&event);
    const std::uint64_t bits = noise.next();
    slice.start = clock + static_cast<TimeNs>(bits & 63);
    slice.duration = 40 * slice.name + static_cast<TimeNs>(bits >> 8 & 255);
    if (arguments) {
      slice.step = static_cast<std::uint64_t>(clock) / 100'000;
      slice.argument = bits >> 20 & 1023;
    }
    clock += 300;
  }
}

Status record(const std::string& path, bool arguments) {
  WriterOptions options;
  options.overwrite = true;
  options.chunk_rows = static_cast<std::size_t>(setting("DMPROF_BENCH_ROWS", static_cast<long>(options.chunk_rows)));
  options.compression = static_cast<int>(setting("DMPROF_BENCH_LEVEL", options.compression));
  auto writer = Writer::create(path, options);
  if (!writer) return tl::unexpected(writer.error());
  for (int name = 1; name <= 12; ++name) (*writer)->intern("stage " + std::to_string(name));
  for (int track = 1; track <= 2; ++track) {
    if (const auto id = (*writer)->add_track({}); !id) return tl::unexpected(id.error());
  }
  auto events = make_batch();
  Noise noise;
  TimeNs clock = 1'000'000'000'000;
  for (std::size_t written = 0; written < event_count(); written += batch) {
    move_on(events, clock, arguments, noise);
    DMPROF_TRY((*writer)->accept(events));
  }
  return (*writer)->finish();
}

void bench_record(benchmark::State& state) {
  const bool arguments = state.range(0) != 0;
  const std::string path = bench_path(arguments ? "arguments" : "plain");
  double cpu = 0;
  for (auto _ : state) {
    const double before = cpu_seconds();
    if (const Status done = record(path, arguments); !done) state.SkipWithError(done.error().message.c_str());
    cpu += cpu_seconds() - before;
  }
  const double events = static_cast<double>(event_count()) * static_cast<double>(state.iterations());
  state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["events/core_s"] = events / cpu;
  state.counters["B/event"] =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(event_count());
}
BENCHMARK(bench_record)
    ->Arg(0)
    ->Arg(1)
    ->ArgName("arguments")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

// The recording that the reading benchmarks share; made by bench_record, or here when that one was filtered out.
const std::string& recorded() {
  static const std::string path = [] {
    std::string made = bench_path("plain");
    if (!std::filesystem::exists(made) && !record(made, false)) made.clear();
    return made;
  }();
  return path;
}

void bench_open(benchmark::State& state) {
  for (auto _ : state) {
    auto reader = Reader::open(recorded());
    benchmark::DoNotOptimize(reader->chunks<Slice>()->size() + reader->names()->size() + reader->tracks()->size());
  }
}
BENCHMARK(bench_open)->Unit(benchmark::kMillisecond);

void bench_quantile(benchmark::State& state) {
  auto reader = Reader::open(recorded());
  for (auto _ : state) {
    Quantiles quantiles;
    const Status read =
        reader->scan<Slice>({}, [&](const Chunk<Slice>& chunk) { quantiles.add(chunk.column<&Slice::duration>()); });
    if (!read) state.SkipWithError(read.error().message.c_str());
    benchmark::DoNotOptimize(*quantiles.at(0.5) + *quantiles.at(0.99));
  }
}
BENCHMARK(bench_quantile)->Unit(benchmark::kMillisecond);

void bench_decode_duration(benchmark::State& state) {
  auto reader = Reader::open(recorded());
  for (auto _ : state) {
    TimeNs sum = 0;
    const Status read = reader->scan<Slice>({}, [&](const Chunk<Slice>& chunk) {
      for (const TimeNs duration : chunk.column<&Slice::duration>()) sum += duration;
    });
    if (!read) state.SkipWithError(read.error().message.c_str());
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(bench_decode_duration)->Unit(benchmark::kMillisecond);

void bench_group_by_name(benchmark::State& state) {
  auto reader = Reader::open(recorded());
  for (auto _ : state) benchmark::DoNotOptimize(reader->by_name<Slice>()->size());
}
BENCHMARK(bench_group_by_name)->Unit(benchmark::kMillisecond);

// One screen: 1/1000 of the recording, a different place each time.
TimeRange viewport(std::size_t turn) {
  const TimeNs length = static_cast<TimeNs>(event_count()) * 300;
  const TimeNs begin = 1'000'000'000'000 + static_cast<TimeNs>(turn * 7919 % 1000) * (length / 1000);
  return {begin, begin + length / 1000};
}

TimeRange shifted(TimeRange range, std::size_t tenths) {
  const TimeNs by = (range.end - range.begin) / 10 * static_cast<TimeNs>(tenths);
  return {range.begin + by, range.end + by};
}

// `jump`: the view is somewhere else each time; else it moves by a tenth of its width, as when a person drags it.
void bench_viewport(benchmark::State& state) {
  const bool jump = state.range(0) != 0;
  auto reader = Reader::open(recorded());
  std::size_t turn = 0;
  for (auto _ : state) {
    std::size_t seen = 0;
    const TimeRange range = jump ? viewport(turn) : shifted(viewport(0), turn % 1000);
    ++turn;
    const Status read = reader->scan<Slice>(range, [&](const Chunk<Slice>& chunk) {
      const auto start = chunk.column<&Slice::start>();
      const auto duration = chunk.column<&Slice::duration>();
      for (std::size_t i = 0; i < chunk.size(); ++i) seen += range.overlaps(start[i], start[i] + duration[i]);
    });
    if (!read || seen == 0) state.SkipWithError("nothing in view");
  }
}
BENCHMARK(bench_viewport)->Arg(0)->Arg(1)->ArgName("jump")->Unit(benchmark::kMicrosecond);

void bench_viewport_sql(benchmark::State& state) {
  const bool jump = state.range(0) != 0;
  auto database = open_for_query(recorded());
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database->get(), "SELECT count(*), sum(duration) FROM slice WHERE start >= ?1 AND start < ?2", -1,
                     &statement, nullptr);
  std::size_t turn = 0;
  for (auto _ : state) {
    const TimeRange range = jump ? viewport(turn) : shifted(viewport(0), turn % 1000);
    ++turn;
    sqlite3_bind_int64(statement, 1, range.begin);
    sqlite3_bind_int64(statement, 2, range.end);
    if (sqlite3_step(statement) != SQLITE_ROW || sqlite3_column_int64(statement, 0) == 0)
      state.SkipWithError("nothing in view");
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
}
BENCHMARK(bench_viewport_sql)->Arg(0)->Arg(1)->ArgName("jump")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dmprof

BENCHMARK_MAIN();
