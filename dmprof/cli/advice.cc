#include "dmprof/cli/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzers/registry/load.h"
#include "analyzers/registry/view.h"
#include "analyzers/roofline/peaks.h"
#include "dmprof/cli/coverage.h"
#include "dmprof/cli/presets.h"
#include "dmprof/cli/recorded_model.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/store/reader.h"

namespace dmprof::cli {

namespace {

constexpr double agreement = 0.1;  // of what was recorded and the model's

// What the decode steps of a recording say.
struct Recorded {
  plan::DecodeLoad load;
  bool has_steps = false, has_context = false;
  plan::MeasuredStep step;
  std::optional<RecordedWork> work;
  std::optional<plan::Hardware> hardware;
  std::string no_hardware;  // why not
};

plan::Hardware hardware_of(const View& view, const MetricValue& ridge) {
  plan::Hardware machine;
  machine.name = "the recorded machine";
  machine.basis = ridge.reason.empty() ? "measured" : "configured";
  for (const auto& beside : ridge.beside) {
    if (beside.name == "bandwidth") machine.bandwidth = beside.value;
    if (beside.name == "peak") machine.peak_flops[0] = beside.value;
  }
  const Recording& recording = view.recording();
  for (const auto& [id, capacity] : recording.capacities) {
    if (capacity.kind == "tier" && capacity.name == ridge.subject)
      machine.memory_bytes = std::max(machine.memory_bytes, static_cast<double>(capacity.size_bytes));
  }
  machine.source = fmt::format("its capacities and calibration: {} and one peak for every precision{}", ridge.subject,
                               ridge.reason.empty() ? "" : ", as they were configured");
  return machine;
}

Recorded look(const Recording& recording) {
  const View view(recording);
  const Scope scope;
  Recorded result;
  double batch = 0, tokens = 0, duration = 0, pass = 0, positions = 0, rows = 0;
  const std::vector<Step> steps = view.steps(scope);
  for (const Step& step : steps) {
    batch += step.batch, tokens += step.target_tokens;
    duration += static_cast<double>(step.duration);
    pass += static_cast<double>(step.verify_time > 0 ? step.verify_time : step.duration - step.draft_time);
  }
  const auto count = static_cast<double>(steps.size());
  if (batch > 0 && tokens > 0) {
    result.has_steps = true;
    result.load.batch = batch / count;
    result.load.tokens = std::max(1.0, tokens / batch);
    result.step = {duration / count / 1e9, pass / count / 1e9};
  }
  for (const SpeculationStep& row : view.speculation(scope)) positions += row.position, ++rows;
  if (rows > 0) result.load.context = positions / rows, result.has_context = true;
  const MetricValue intensity = roofline::operational_intensity(view, scope);
  if (intensity.ok()) result.work = {*intensity.value, roofline::work(view, scope).bytes_per_step};
  const MetricValue ridge = roofline::ridge_point(view, scope);
  if (ridge.ok()) result.hardware = hardware_of(view, ridge);
  result.no_hardware = ridge.reason;
  return result;
}

Status take_load(const AdviceQuestion& question, const Recorded& recorded, Advice& advice) {
  advice.load = recorded.load;
  if (question.batch > 0) advice.load.batch = question.batch;
  if (question.tokens > 0) advice.load.tokens = question.tokens;
  if (question.context > 0) advice.load.context = question.context;
  if (!recorded.has_steps && question.batch == 0)
    return fail(ErrorKind::cannot_answer, "the recording has no decode steps with a batch; give --batch");
  if (!recorded.has_context && question.context == 0)
    return fail(ErrorKind::cannot_answer,
                "the recording does not say how long its sequences are (no speculation steps); give --context");
  const bool asked = question.batch > 0 || question.tokens > 0 || question.context > 0;
  advice.load_source = asked ? "as asked, the rest as recorded" : "as recorded, means over the decode steps";
  return {};
}

// The recorded step is that of this model only where the shape reads and multiplies what was recorded.
void compare(const AdviceQuestion& question, const Recorded& recorded, Advice& advice) {
  const bool same_load = question.batch == 0 && question.tokens == 0 && question.context == 0;
  if (!same_load || !recorded.work) return;
  advice.work = recorded.work;
  const double bytes = advice.now.weight_bytes + advice.now.kv_bytes, intensity = advice.now.intensity();
  const auto agree = [](double a, double b) { return std::fabs(a / b - 1) <= agreement; };
  if (!agree(bytes, recorded.work->bytes) || !agree(intensity, recorded.work->intensity)) {
    advice.notes.push_back(fmt::format(
        "the shape reads {:.3g} MB a step at {:.3g} FLOP/B where {:.3g} MB at {:.3g} were recorded: it is not the "
        "model "
        "that ran, or the engine reads other bytes than the shape says; the recorded step is left out of account",
        bytes / 1e6, intensity, recorded.work->bytes / 1e6, recorded.work->intensity));
  } else if (question.hardware.empty()) {
    advice.measured = recorded.step;
  }
}

void add_changes(Advice& advice, const plan::AdviceOptions& options) {
  advice.now = plan::decode_cost(advice.model, advice.load, advice.hardware);
  for (plan::Change& change : plan::changes(advice.model, advice.load, advice.hardware, options)) {
    const plan::DecodeCost cost = plan::decode_cost(change.shape, advice.load, advice.hardware);
    advice.changes.push_back({std::move(change), cost, std::nullopt});
  }
}

void add_gains(Advice& advice) {
  bool disagree = false;
  for (Advised& one : advice.changes) {
    one.gain = plan::step_gain(advice.now, one.cost, advice.measured);
    disagree = disagree || !one.gain;
  }
  if (disagree)
    advice.notes.push_back(
        fmt::format("the roofline of a step ({:.3g} ms) is longer than the recorded pass ({:.3g} ms): "
                    "shape, load or peaks are not those of the recording, so no gain is predicted",
                    advice.now.step() * 1e3, advice.measured->pass * 1e3));
  std::stable_sort(advice.changes.begin(), advice.changes.end(), [](const Advised& a, const Advised& b) {
    const bool last_a = a.change.kind == "together", last_b = b.change.kind == "together";
    return last_a != last_b ? last_b : a.cost.step() < b.cost.step();
  });
}

void add_notes(Advice& advice) {
  const auto fits = [&](const plan::DecodeCost& cost) {
    return std::isnan(cost.sequences) || cost.sequences >= advice.load.batch;
  };
  if (!fits(advice.now))
    advice.notes.push_back(fmt::format(
        "this model at this load needs {:.3g} GB where {} has {:.3g} GB: ratios hold for a split over several of them "
        "whose links cost nothing",
        advice.now.memory_bytes / 1e9, advice.hardware.name, advice.hardware.memory_bytes / 1e9));
  if (advice.hardware.tile == 0)
    advice.notes.push_back("the width of the hardware's tiles is not known: widths are not looked at");
}

}  // namespace

Advice advise(const plan::ModelShape& model, const plan::Hardware& hardware, const plan::DecodeLoad& load,
              const plan::AdviceOptions& options) {
  Advice advice;
  advice.model = model, advice.hardware = hardware, advice.load = load;
  advice.load_source = "as asked";
  add_changes(advice, options);
  add_gains(advice);
  add_notes(advice);
  return advice;
}

Result<Advice> advise(const AdviceQuestion& question) {
  Advice advice;
  advice.hardware_source = question.hardware, advice.model_source = question.model;
  if (!question.hardware.empty()) {
    auto hardware = hardware_named("--hardware", question.hardware);
    if (!hardware) return tl::unexpected(hardware.error());
    advice.hardware = *hardware;
  }
  if (!question.model.empty()) {
    auto model = model_named("--model", question.model);
    if (!model) return tl::unexpected(model.error());
    advice.model = *model;
  }
  if (question.file.empty() && question.complete()) {
    const plan::DecodeLoad load{static_cast<double>(question.batch),
                                std::max(1.0, static_cast<double>(question.tokens)),
                                static_cast<double>(question.context)};
    Advice known = advise(advice.model, advice.hardware, load, question.options);
    known.model_source = advice.model_source, known.hardware_source = advice.hardware_source;
    return known;
  }

  auto path = recording_or_newest(question.file);
  if (!path) return tl::unexpected(path.error());
  advice.run = path->string();
  const auto about = [&](Error error) {
    if (error.message.find(advice.run) == std::string::npos) error.message = advice.run + ": " + error.message;
    return tl::unexpected(std::move(error));
  };
  auto reader = Reader::open(advice.run);
  if (!reader) return tl::unexpected(reader.error());
  auto recording = load_recording(*reader, Events::steps | Events::speculation | Events::transfers);
  if (!recording) return tl::unexpected(recording.error());
  const Recorded recorded = look(*recording);
  if (question.hardware.empty()) {
    if (!recorded.hardware)
      return about({ErrorKind::cannot_answer,
                    fmt::format("{}; or name the hardware, such as --hardware b200", recorded.no_hardware)});
    advice.hardware = *recorded.hardware;
    advice.hardware_source = "of the recording";
  }
  if (question.model.empty()) {
    auto model = recorded_model(*recording);
    if (!model) return about(model.error());
    advice.model = *model;
    advice.model_source = "as its engine registered it";
  }
  if (auto taken = take_load(question, recorded, advice); !taken) return about(taken.error());
  add_changes(advice, question.options);
  compare(question, recorded, advice);
  add_gains(advice);
  auto note = coverage_note(*reader);
  if (!note) return tl::unexpected(note.error());
  if (!note->empty()) advice.notes.push_back(*note);
  add_notes(advice);
  return advice;
}

}  // namespace dmprof::cli
