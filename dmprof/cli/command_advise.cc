// dmprof advise: changes of the model that the hardware would reward, with what the roofline predicts of each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dmprof/cli/advice.h"
#include "dmprof/cli/advice_claim.h"
#include "dmprof/cli/advice_text.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/presets.h"
#include "dmprof/cli/terminal.h"

namespace dmprof::cli {

namespace {

constexpr std::uint32_t most = 1u << 24;  // of any count on the command line

struct Flags {
  AdviceQuestion question;
  std::uint32_t kv_heads = 8, latent = 512, rotary = 64;
  bool claim = false;
};

Result<ExitStatus> advise_command(Flags& flags, bool json) {
  if (flags.claim) {
    const AdviceQuestion& q = flags.question;
    if (json) return fail(ErrorKind::usage, "--claim prints a table; leave out --json");
    if (!q.file.empty() || !q.hardware.empty() || !q.model.empty() || q.batch + q.tokens + q.context > 0)
      return fail(ErrorKind::usage, "--claim has its own model, hardware and load; type it alone");
    auto text = claim_text();
    if (!text) return tl::unexpected(text.error());
    DMPROF_TRY(write_out(*text));
    return ExitStatus::done;
  }
  flags.question.options = {flags.kv_heads, flags.latent, flags.rotary};
  auto advice = advise(flags.question);
  if (!advice) return tl::unexpected(advice.error());
  DMPROF_TRY(write_out(json ? advice_json(*advice) : advice_text(*advice, report::Style(wants_colour(stdout)))));
  return ExitStatus::done;
}

}  // namespace

DeclaredCommand declare_advise(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app =
      root.command("advise", "Suggest changes of the model that the hardware would reward: attention, bits, widths");
  auto flags = std::make_shared<Flags>();
  AdviceQuestion& question = flags->question;
  app.text("FILE", question.file, "", "Recording; the newest one when left out");
  app.text("--hardware,--profile", question.hardware, "NAME|FILE",
           fmt::format("{}, or a profile (.yaml); left out: the machine of the recording",
                       fmt::join(hardware_names(), ", ")));
  app.text("--model", question.model, "NAME|FILE",
           fmt::format("{}, or a shape (.yaml), where the recording has none or another is meant",
                       fmt::join(model_names(), ", ")));
  app.count("--batch", question.batch, most, "N", "Sequences in a step; left out: as recorded");
  app.count("--tokens", question.tokens, most, "N", "Tokens a sequence and pass, lookahead + 1; left out: as recorded");
  app.count("--context", question.context, most, "N", "Cached tokens of a sequence; left out: as recorded");
  app.count("--kv-heads", flags->kv_heads, most, "N", "Of the grouped attention that is suggested (8)");
  app.count("--latent", flags->latent, 1u << 20, "N", "Of the latent attention that is suggested (512)");
  app.count("--rope", flags->rotary, 1u << 20, "N", "Beside it, for the position encoding (64)");
  app.flag("--claim", flags->claim, "Print a published case beside what this calculator gives for it");
  app.flag("--json", shared->json, "Print JSON");
  app.footer(
      "Example, without a recording: dmprof advise --hardware b200 --model dense-70b --batch 8 --context 32768\n"
      "With one: dmprof advise run.dmprof --hardware b200");
  return {app, [flags, shared] { return advise_command(*flags, shared->json); }};
}

}  // namespace dmprof::cli
