// `tokenizer`, `target`, `teacher`, `draft` and `export`: everything that writes a model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "samples/models/train/checkpoint.h"
#include "samples/models/train/commands.h"
#include "samples/models/train/corpus.h"
#include "samples/models/train/evaluate.h"
#include "samples/models/train/gguf.h"
#include "samples/models/train/trainer.h"

namespace dmprof::train {
namespace {

constexpr int vocabulary = 1024;
constexpr const char* license =
    "Text of the King James Version (1611), copyright expired; see samples/models/README.md. Weights: Apache-2.0";

const std::map<std::string, Shape> shapes = {
    {"target", {.dim = 256, .layers = 6, .heads = 8, .kv_heads = 4, .ffn = 704, .vocab = vocabulary}},
    {"draft-10", {.dim = 128, .layers = 2, .heads = 4, .kv_heads = 2, .ffn = 320, .vocab = vocabulary}},
    {"draft-30", {.dim = 64, .layers = 2, .heads = 2, .kv_heads = 2, .ffn = 160, .vocab = vocabulary}},
};

struct TrainFlags {
  std::string corpus, output, f32_output, target, teacher;
  std::string size = "draft-10";
  int teacher_windows = 1 << 20;
  TrainOptions options;
};

void add_train_flags(CLI::App& command, TrainFlags& flags) {
  command.add_option("--corpus", flags.corpus, "Output of `bible -f`")->required();
  command.add_option("-o,--output", flags.output, "GGUF to write, matrices in Q8_0")->required();
  command.add_option("--f32-output", flags.f32_output, "The same weights as F32 GGUF");
  command.add_option("--steps", flags.options.schedule.steps, "Optimizer steps")->capture_default_str();
  command.add_option("--minutes", flags.options.minutes, "End after this time instead; the rate decays with the clock");
  command.add_option("--rate", flags.options.schedule.peak, "Peak learning rate")->capture_default_str();
  command.add_option("--warmup", flags.options.schedule.warmup, "Steps of linear warm-up")->capture_default_str();
  command.add_option("--threads", flags.options.threads, "Threads, one window each at a time")->capture_default_str();
  command.add_option("--windows", flags.options.windows_per_step, "Windows of 512 tokens a step")
      ->capture_default_str();
  command.add_option("--seed", flags.options.seed, "Seed of weights and order")->capture_default_str();
  command.add_option("--checkpoint", flags.options.checkpoint, "File to save to and go on from");
}

Status check(const TrainFlags& flags) {
  const TrainOptions& options = flags.options;
  if (options.threads < 1 || options.windows_per_step < 1 || options.windows_per_step % options.threads != 0) {
    return fail(ErrorKind::usage, "--windows must be a positive multiple of --threads");
  }
  if (options.schedule.steps < 1 || options.schedule.warmup < 1)
    return fail(ErrorKind::usage, "--steps and --warmup must be positive");
  return {};
}

void print_progress(const Progress& progress) {
  fmt::print(stderr, "step {} loss {:.4f} tokens/s {:.0f}\n", progress.step, progress.loss, progress.tokens_per_second);
}

Status write_model(const TrainFlags& flags, const std::string& name, const Model& model) {
  const ModelInfo info{.name = "kjv-" + name,
                       .description = "Sample model of dmprof, trained on the King James Version",
                       .license = license};
  DMPROF_TRY(write_gguf(flags.output, model, info, MatrixType::q8_0));
  if (!flags.f32_output.empty()) DMPROF_TRY(write_gguf(flags.f32_output, model, info, MatrixType::f32));
  return {};
}

Status train_and_write(const TrainFlags& flags, const std::string& name, const Corpus& corpus, Tokenizer& tokenizer,
                       const Teacher* teacher) {
  const Shape& shape = shapes.at(name);
  const std::vector<Token> stream = token_stream(tokenizer, corpus.train);
  const std::vector<Token> held_out = token_stream(tokenizer, corpus.held_out);
  const Layout layout(shape);
  fmt::print(stderr, "{}: {} parameters, {} training tokens, {} held out\n", name, layout.total, stream.size(),
             held_out.size());
  Model model{shape, std::vector<float>(layout.total), tokenizer.merges()};
  initialise(shape, layout, flags.options.seed, model.parameters.data());
  DMPROF_TRY(train(shape, stream, teacher, flags.options, model.parameters, print_progress));
  DMPROF_TRY(write_model(flags, name, model));
  fmt::print(stderr, "held out: {:.4f} nats/token\n",
             evaluate(shape, model.parameters, held_out, 1 << 20, flags.options.threads));
  return {};
}

Status train_target(const TrainFlags& flags) {
  DMPROF_TRY(check(flags));
  auto corpus = read_corpus(flags.corpus);
  if (!corpus) return tl::unexpected(corpus.error());
  Tokenizer tokenizer = Tokenizer::learn(corpus->train_text(), vocabulary);
  return train_and_write(flags, "target", *corpus, tokenizer, nullptr);
}

// The target and the token stream of the training chapters in its own tokenizer.
struct TargetAndText {
  Model target;
  Corpus corpus;
  Tokenizer tokenizer;
};

Result<TargetAndText> read_target(const TrainFlags& flags) {
  auto corpus = read_corpus(flags.corpus);
  if (!corpus) return tl::unexpected(corpus.error());
  auto target = read_gguf(flags.target);
  if (!target) return tl::unexpected(target.error());
  if (target->shape.vocab != vocabulary)
    return fail(ErrorKind::bad_input, flags.target + " has another vocabulary: give a target of dm-train");
  Tokenizer tokenizer(target->merges);
  return TargetAndText{std::move(*target), std::move(*corpus), std::move(tokenizer)};
}

Status compute_teacher(const TrainFlags& flags) {
  if (flags.options.threads < 1 || flags.teacher_windows < 1)
    return fail(ErrorKind::usage, "--threads and --max-windows must be positive");
  auto from = read_target(flags);
  if (!from) return tl::unexpected(from.error());
  const std::vector<Token> stream = token_stream(from->tokenizer, from->corpus.train);
  return Teacher::compute(flags.output, from->target.shape, from->target.parameters, stream, flags.teacher_windows,
                          flags.options.threads);
}

Status train_draft(const TrainFlags& flags) {
  DMPROF_TRY(check(flags));
  if (!shapes.contains(flags.size) || flags.size == "target")
    return fail(ErrorKind::usage, "--size must be draft-10 or draft-30");
  auto from = read_target(flags);
  if (!from) return tl::unexpected(from.error());
  if (flags.teacher.empty()) return train_and_write(flags, flags.size, from->corpus, from->tokenizer, nullptr);
  auto teacher = Teacher::open(flags.teacher, from->target.shape.context, vocabulary);
  if (!teacher) return tl::unexpected(teacher.error());
  return train_and_write(flags, flags.size, from->corpus, from->tokenizer, &*teacher);
}

// Writes the model of a run that has not ended.
Status export_checkpoint(const TrainFlags& flags) {
  if (!shapes.contains(flags.size)) return fail(ErrorKind::usage, "--size must be target, draft-10 or draft-30");
  auto corpus = read_corpus(flags.corpus);
  if (!corpus) return tl::unexpected(corpus.error());
  const Layout layout(shapes.at(flags.size));
  Model model{shapes.at(flags.size), std::vector<float>(layout.total),
              Tokenizer::learn(corpus->train_text(), vocabulary).merges()};
  AdamW adam(layout);
  auto step = load_checkpoint(flags.options.checkpoint, model.parameters, adam);
  if (!step) return tl::unexpected(step.error());
  if (*step == 0)
    return fail(ErrorKind::environment, "cannot read " + flags.options.checkpoint + ": name a checkpoint of dm-train");
  fmt::print(stderr, "step {}\n", *step);
  return write_model(flags, flags.size, model);
}

Status show_tokenizer(const std::string& path) {
  auto corpus = read_corpus(path);
  if (!corpus) return tl::unexpected(corpus.error());
  Tokenizer tokenizer = Tokenizer::learn(corpus->train_text(), vocabulary);
  std::size_t bytes = 0;
  for (const std::string& chapter : corpus->held_out) bytes += chapter.size();
  const std::size_t tokens = token_stream(tokenizer, corpus->held_out).size();
  fmt::print("{} training and {} held-out chapters, vocabulary {}, {:.3f} held-out bytes a token\n",
             corpus->train.size(), corpus->held_out.size(), tokenizer.vocab(),
             static_cast<double>(bytes) / static_cast<double>(tokens));
  for (std::size_t i = 0; i < tokenizer.merges().size(); ++i) {
    const auto id = static_cast<Token>(257 + i);
    fmt::print("{} {}\n", id, printable(tokenizer.bytes(id)));
  }
  return {};
}

}  // namespace

void add_tokenizer_command(CLI::App& app, Status& status) {
  auto* command = app.add_subcommand("tokenizer", "Learn the tokenizer and list its merges");
  auto corpus = std::make_shared<std::string>();
  command->add_option("--corpus", *corpus, "Output of `bible -f`")->required();
  command->callback([corpus, &status] { status = show_tokenizer(*corpus); });
}

void add_target_command(CLI::App& app, Status& status) {
  auto* command = app.add_subcommand("target", "Train the target model");
  auto flags = std::make_shared<TrainFlags>();
  flags->options.schedule = {.peak = 3e-3f, .warmup = 200, .steps = 5200};
  add_train_flags(*command, *flags);
  command->callback([flags, &status] { status = train_target(*flags); });
}

void add_draft_command(CLI::App& app, Status& status) {
  auto* command = app.add_subcommand(
      "draft", "Train a draft model, from the text or distilled from the target; --checkpoint links the two stages");
  auto flags = std::make_shared<TrainFlags>();
  flags->options.schedule = {.peak = 5e-3f, .warmup = 100, .steps = 6200};
  add_train_flags(*command, *flags);
  command->add_option("--target", flags->target, "The target's GGUF")->required();
  command->add_option("--size", flags->size, "draft-10 or draft-30")->capture_default_str();
  command->add_option("--teacher", flags->teacher,
                      "File of `dm-train teacher` to distil from; without it the draft learns from the text");
  command->callback([flags, &status] { status = train_draft(*flags); });
}

void add_teacher_command(CLI::App& app, Status& status) {
  auto* command = app.add_subcommand(
      "teacher", "Compute the target's distributions over the training text, for drafts to learn from");
  auto flags = std::make_shared<TrainFlags>();
  command->add_option("--corpus", flags->corpus, "Output of `bible -f`")->required();
  command->add_option("--target", flags->target, "The target's GGUF; F32 is best")->required();
  command->add_option("-o,--output", flags->output, "File to write, 1 MiB a window: 2.6 GB")->required();
  command->add_option("--threads", flags->options.threads, "Threads")->capture_default_str();
  command->add_option("--max-windows", flags->teacher_windows, "Only N windows of 512 tokens, spread evenly");
  command->callback([flags, &status] { status = compute_teacher(*flags); });
}

void add_export_command(CLI::App& app, Status& status) {
  auto* command = app.add_subcommand("export", "Write the model of a checkpoint");
  auto flags = std::make_shared<TrainFlags>();
  command->add_option("--corpus", flags->corpus, "Output of `bible -f`")->required();
  command->add_option("--checkpoint", flags->options.checkpoint, "The checkpoint")->required();
  command->add_option("--size", flags->size, "target, draft-10 or draft-30")->capture_default_str();
  command->add_option("-o,--output", flags->output, "GGUF to write, matrices in Q8_0")->required();
  command->add_option("--f32-output", flags->f32_output, "The same weights as F32 GGUF");
  command->callback([flags, &status] { status = export_checkpoint(*flags); });
}

}  // namespace dmprof::train
