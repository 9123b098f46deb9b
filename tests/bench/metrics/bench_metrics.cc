// How long a question takes on a recording of 10 million events when its answer is not stored, against TARGETS.md
// "`dmprof --metric`, 10 M events: <= 500 ms computed". DMPROF_BENCH_EVENTS sets the number of events; the recording
// lies in TMPDIR. What is timed is the whole command but its start: open, load, compute.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "dmprof/cli/evaluation.h"
#include "dmprof/store/reader.h"
#include "dmprof/store/writer.h"

namespace dmprof {
namespace {

std::uint64_t event_count() {
  const char* text = std::getenv("DMPROF_BENCH_EVENTS");
  return text == nullptr ? 10'000'000 : std::strtoull(text, nullptr, 10);
}

// A streaming engine as dm-engine emits it: each step of a draft and a target asks for `blocks` blocks in order, one of
// six is prefetched too late and one of seven missed; with every access a kernel, a prefetch's two points, a transfer.
class Engine {
 public:
  explicit Engine(Writer& writer) : writer_(writer) {}

  Status describe() {
    for (const bool managed : {true, false}) {
      Capacity capacity;
      capacity.name = managed ? "resident" : "backing", capacity.kind = "tier", capacity.rank = managed ? 0 : 1;
      capacity.managed = managed, capacity.size_bytes = 1 << 20, capacity.measured_bandwidth = managed ? 0 : 2e9;
      if (const auto id = writer_.add_capacity(capacity); !id) return tl::unexpected(id.error());
    }
    for (int track = 0; track < 2; ++track) {
      if (const auto id = writer_.add_track({}); !id) return tl::unexpected(id.error());
    }
    writer_.intern("verification");
    return {};
  }

  Status run(std::uint64_t events) {
    while (emitted_ < events) {
      step();
      emitted_ += batch_.size();
      DMPROF_TRY(writer_.accept(batch_));
      batch_.clear();
    }
    return {};
  }

 private:
  static constexpr std::uint64_t blocks = 220;

  std::uint64_t draw(std::uint64_t below) {
    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
    return (random_ >> 33) % below;
  }

  void step() {
    const TimeNs start = now_;
    ++steps_;
    for (std::uint64_t block = 0; block < blocks; ++block) access(block);
    Step step;
    step.track = 1, step.start = start, step.duration = now_ - start, step.step = steps_, step.batch = 1;
    step.target_tokens = 6, step.draft_time = step.duration / 4, step.verify_time = step.duration / 2;
    batch_.emplace_back(step);
    SpeculationStep row;
    row.track = 1, row.time = now_, row.step = steps_, row.request = 1 + steps_ / 100;
    row.drafted = row.verified = 5, row.accepted = static_cast<std::uint32_t>(draw(6)), row.emitted = row.accepted + 1;
    row.draft_type = DraftType::model;
    batch_.emplace_back(row);
  }

  void access(std::uint64_t block) {
    now_ += 2000 + static_cast<TimeNs>(draw(500));
    const bool late = draw(6) == 0, missed = !late && draw(7) == 0;
    BlockAccess access;
    access.track = 1, access.time = now_, access.block = block, access.tier = 1, access.step = steps_;
    access.outcome = late ? AccessOutcome::late : missed ? AccessOutcome::miss : AccessOutcome::hit;
    access.origin = missed ? BlockOrigin::demand : BlockOrigin::prefetched;
    access.prediction = Prediction::right, access.phase = Phase::decode, access.bytes = 65536;
    access.wait = late || missed ? 1000 + static_cast<TimeNs>(draw(30'000)) : 0;
    batch_.emplace_back(access);
    for (const PrefetchPoint point : {PrefetchPoint::issued, PrefetchPoint::completed}) {
      Prefetch prefetch;
      prefetch.track = 2, prefetch.time = now_ + static_cast<TimeNs>(draw(900)), prefetch.block = (block + 8) % blocks;
      prefetch.tier = 1, prefetch.point = point, prefetch.bytes = 65536, prefetch.step = steps_;
      batch_.emplace_back(prefetch);
    }
    Transfer transfer;
    transfer.track = 2, transfer.start = now_ + 100, transfer.duration = 1000 + static_cast<TimeNs>(draw(900));
    transfer.from = 2, transfer.to = 1, transfer.bytes = transfer.useful_bytes = 65536, transfer.block = block;
    transfer.queue_depth = 2;
    batch_.emplace_back(transfer);
    Kernel kernel;
    kernel.track = 1, kernel.start = now_, kernel.duration = 1500 + static_cast<TimeNs>(draw(300)), kernel.name = 1;
    kernel.flops = 131072, kernel.bytes = 65536, kernel.step = steps_, kernel.stall = access.wait;
    batch_.emplace_back(kernel);
    now_ += access.wait;
  }

  Writer& writer_;
  std::vector<Event> batch_;
  std::uint64_t emitted_ = 0, steps_ = 0, random_ = 42;
  TimeNs now_ = 1'000'000'000'000;
};

Status record(const std::string& path) {
  WriterOptions options;
  options.overwrite = true;
  auto writer = Writer::create(path, options);
  if (!writer) return tl::unexpected(writer.error());
  Engine engine(**writer);
  DMPROF_TRY(engine.describe());
  DMPROF_TRY(engine.run(event_count()));
  return (*writer)->finish();
}

const std::string& recorded() {
  static const std::string path = [] {
    std::string made = (std::filesystem::temp_directory_path() / "dmprof-bench-metrics.dmprof").string();
    if (const Status done = record(made); !done) made.clear();
    return made;
  }();
  return path;
}

void bench_computed(benchmark::State& state, const char* name, std::optional<By> by) {
  const std::vector<std::string> names = {name};
  EvaluateOptions options;
  options.by = by;
  for (auto _ : state) {
    auto reader = Reader::open(recorded());
    auto evaluation = reader ? cli::evaluate(*reader, names, options) : tl::unexpected(reader.error());
    if (!evaluation || !evaluation->values.at(0).ok()) {
      state.SkipWithError(evaluation ? evaluation->values.at(0).reason.c_str() : evaluation.error().message.c_str());
      break;
    }
  }
}

void computed(const char* title, const char* name, std::optional<By> by = {}) {
  benchmark::RegisterBenchmark(title, [name, by](benchmark::State& state) { bench_computed(state, name, by); })
      ->Unit(benchmark::kMillisecond)
      ->Iterations(3);
}

}  // namespace
}  // namespace dmprof

int main(int argc, char** argv) {
  dmprof::computed("prefetch_hit_rate", "prefetch_hit_rate");
  dmprof::computed("speculation_accuracy", "speculation_accuracy");
  dmprof::computed("speculation_accuracy/by_request", "speculation_accuracy", dmprof::By::request);
  dmprof::computed("prefetch_pollution", "prefetch_pollution");
  dmprof::computed("time_budget", "time_budget");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
