// The knobs as users type them: DM_DRAFT, DM_LOOKAHEAD, DM_CACHE_POLICY, DM_MAX_CONCURRENT in the environment, and the
// driver's parameter interleave_sched as a file. They override what the scenario sets.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "dmprof/base/error.h"
#include "samples/simcard/card/parameters.h"

namespace dmprof::simcard {

using Environment = std::function<const char*(const char* name)>;  // as getenv

// Reads the variables into `settings`. An empty variable is one that is not set.
Status read_environment(const Environment& environment, Settings& settings);

inline constexpr std::array<const char*, 4> variables = {"DM_DRAFT", "DM_LOOKAHEAD", "DM_CACHE_POLICY",
                                                         "DM_MAX_CONCURRENT"};

// For what they do not reach: "A12 has its own settings; DM_DRAFT is not used", or "" when none of them is set.
std::string unused_variables(const Environment& environment, const std::string& who_has_its_own);

std::string draft_name(double billions);  // "3b", "none"

// The driver's parameters, as files under a root that is $DM_SYSFS_ROOT or, without it, a private directory that is the
// same for every run of a user.
class Sysfs {
 public:
  // Opens the root; makes the directories and the file (holding `interleave`) where they do not exist yet.
  static Result<Sysfs> open(const Environment& environment, bool interleave);

  const std::string& interleave_path() const { return path_; }
  // What the file holds now: 0, 1, n, y. Anything else is an error.
  Result<bool> interleave() const;
  // The same while a run looks again and again; nothing where it cannot be told and what held before holds on. What is
  // still wrong at the next look is told once on standard error: a file is empty for a moment while a shell writes it.
  std::optional<bool> watch();

 private:
  explicit Sysfs(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::string seen_, told_;  // what was wrong at the last look, and what was said about it
};

// Tells the SDK about all of them. Returns the id of interleave_sched's, for dmprof_knob_set.
std::uint32_t register_knobs(const Settings& settings, const std::string& interleave_path);

}  // namespace dmprof::simcard
