#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dmprof/base/output.h"
#include "samples/simcard/fit/fit_file.h"
#include "samples/simcard/fit/settings_json.h"

namespace dmprof::twin {
namespace {

using Json = nlohmann::ordered_json;

// What the keys mean; shown above each section of the YAML form.
const char* comment_of(const std::string& section) {
  static const std::pair<const char*, const char*> comments[] = {
      {"format",
       "A twin of dm-engine, fitted to recordings by dm-simcard fit. Times in ns, sizes in bytes, bandwidths in B/s."},
      {"recordings",
       "What was fitted, first the base: settings, recorded figures, and what the twin gives for the same settings."},
      {"acceptance",
       "Drafts accepted: by position in the chain [reached, accepted, conditional acceptance], and the same by tokens "
       "in the sequence from\n"
       "which it holds. Only recorded positions are here; a longer chain is extrapolated with the last one."},
      {"link",
       "Where blocks come from. imitated: a transfer takes bytes / bytes_per_second from max(link free, issue + "
       "latency_ns) on. move_*: what a\n"
       "thread needs to move the bytes itself (on an imitated link this is assumed, as no recording shows it). "
       "excess_ns: what a transfer takes\n"
       "beyond that. A list of ns or x is a distribution: the means of equally probable bins."},
      {"habits",
       "Of engine and machine. plan_ns: looking ahead once at plan_distance. *_overshoot: from a block's arrival until "
       "the engine goes on.\n"
       "prefetch_oversleep: until the prefetch thread looks for more."},
      {"target",
       "One model: sizes and resident sizes of its blocks; the operations of a pass with the blocks they ask for, in "
       "order; what each kind\n"
       "costs to compute, as [tokens, median ns, samples]; noise: a pass's compute time over the sum of these."},
      {"drafts",
       "The same for each draft, and its verdict on every output position of every request: 1 right, 0 wrong, ? not "
       "recorded (then drawn with\n"
       "after_right behind a right one, after_wrong behind a wrong one; texts that were sampled are drawn with "
       "acceptance, by position)."},
      {"requests",
       "The requests that are replayed. embedding: the target's block by token position, -1 where it was not seen."},
  };
  for (const auto& [name, text] : comments) {
    if (section == name) return text;
  }
  return nullptr;
}

Json program_json(const ModelProgram& program) {
  Json json;
  json["name"] = program.name;
  Json sizes = Json::array(), resident = Json::array();
  for (const Block& block : program.blocks) {
    sizes.push_back(block.bytes);
    resident.push_back(block.memory);
  }
  json["block_bytes"] = std::move(sizes);
  json["block_resident_bytes"] = std::move(resident);
  json["embedding_blocks"] = program.embedding_blocks;
  json["embedding_share"] = program.embedding_share;
  json["pass_other_ns"] = program.pass_other;
  json["noise_x"] = program.noise.means;
  Json costs;
  for (const NamedCost& cost : program.costs) {
    Json points = Json::array();
    for (const CostPoint& point : cost.curve.points) points.push_back({point.tokens, point.ns, point.samples});
    costs[cost.name] = std::move(points);
  }
  json["costs"] = std::move(costs);
  Json operations = Json::array();
  for (const Operation& operation : program.operations) {
    Json one = Json::array({program.costs[operation.cost].name});
    for (const BlockId block : operation.blocks) one.push_back(block);
    operations.push_back(std::move(one));
  }
  json["operations"] = std::move(operations);
  return json;
}

Json draft_json(const DraftProfile& profile) {
  Json json = program_json(profile.program);
  json["acceptance"] = profile.acceptance;
  json["after_right"] = profile.after_right;
  json["after_wrong"] = profile.after_wrong;
  Json verdicts = Json::array();
  for (const auto& matches : profile.matches) {
    std::string text;
    for (const Match match : matches) text += match == Match::unknown ? '?' : match == Match::right ? '1' : '0';
    verdicts.push_back(std::move(text));
  }
  json["verdicts"] = std::move(verdicts);
  json["embedding"] = profile.embedding;
  return json;
}

Json cells_json(const std::vector<AcceptanceCell>& cells) {
  Json json = Json::array();
  for (const AcceptanceCell& cell : cells) {
    const double share = cell.reached > 0 ? static_cast<double>(cell.accepted) / static_cast<double>(cell.reached) : 0;
    json.push_back({cell.reached, cell.accepted, share});
  }
  return json;
}

Json acceptance_json(const std::vector<DraftCurve>& curves) {
  Json json = Json::array();
  for (const DraftCurve& curve : curves) {
    Json one;
    one["draft"] = curve.draft;
    one["parameter_bytes"] = curve.parameter_bytes;
    one["by_position"] = cells_json(curve.counts.by_position);
    Json lengths = Json::array();
    for (std::size_t i = 0; i < curve.counts.length_from.size(); ++i) {
      Json bucket;
      bucket["from_tokens"] = curve.counts.length_from[i];
      bucket["by_position"] = cells_json(curve.counts.by_length[i]);
      lengths.push_back(std::move(bucket));
    }
    one["by_length"] = std::move(lengths);
    json.push_back(std::move(one));
  }
  return json;
}

Json document(const Fit& fit) {
  const Description& d = fit.description;
  Json json;
  json["format"] = 1;
  json["engine"] = fit.engine;
  json["machine"] = fit.machine;
  json["threads"] = fit.threads;
  json["backing"] = fit.backing;
  json["greedy"] = d.greedy;
  Json recordings = Json::array();
  for (const FittedRecording& each : fit.recordings) {
    Json one;
    one["file"] = each.file;
    one["settings"] = settings_json(each.settings);
    one["recorded"] = each.recorded;
    one["simulated"] = each.simulated;
    recordings.push_back(std::move(one));
  }
  json["recordings"] = std::move(recordings);
  json["acceptance"] = acceptance_json(fit.curves);
  json["link"] = {{"imitated", d.link.imitated},
                  {"bytes_per_second", d.link.bytes_per_second},
                  {"latency_ns", d.link.latency},
                  {"move_base_ns", d.link.move_base},
                  {"move_bytes_per_second", d.link.move_bytes_per_second},
                  {"excess_ns", d.link.excess.means}};
  json["habits"] = {{"plan_ns", d.habits.plan},
                    {"plan_distance", d.habits.plan_distance},
                    {"miss_overshoot_ns", d.habits.miss_overshoot.means},
                    {"late_overshoot_ns", d.habits.late_overshoot.means},
                    {"prefetch_oversleep_ns", d.habits.prefetch_oversleep.means},
                    {"accept_step_ns", d.habits.accept_step},
                    {"between_steps_ns", d.habits.between_steps}};
  json["target"] = program_json(d.target);
  Json drafts = Json::array();
  for (const DraftProfile& profile : d.drafts) drafts.push_back(draft_json(profile));
  json["drafts"] = std::move(drafts);
  Json requests = Json::array();
  for (const RequestText& text : d.requests) {
    requests.push_back({{"arrival_ns", text.arrival},
                        {"prompt_tokens", text.prompt_tokens},
                        {"output_tokens", text.output_tokens},
                        {"ended_by_limit", text.ended_by_limit},
                        {"embedding", text.embedding}});
  }
  json["requests"] = std::move(requests);
  return json;
}

bool plain(const Json& value) {
  return !value.is_structured() ||
         (value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& v) {
            return !v.is_structured() ||
                   (v.is_array() && std::none_of(v.begin(), v.end(), [](const Json& w) { return w.is_structured(); }) &&
                    v.size() <= 8);
          }));
}

// JSON's scalars and flat lists are YAML as they stand; what nests becomes indented blocks.
void write_yaml(const Json& json, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const auto& item : json.items()) {
    const Json& value = item.value();
    if (const char* comment = indent == 0 ? comment_of(item.key()) : nullptr) {
      if (!out.empty()) out += '\n';
      out += "# ";
      for (const char* c = comment; *c != '\0'; ++c) {
        out += *c;
        if (*c == '\n') out += "# ";
      }
      out += '\n';
    }
    out += margin;
    if (json.is_array()) {
      out += '-';
    } else {
      // Names of operations and figures come from a recording: whatever they are, they must stay keys.
      const bool bare = item.key().find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos &&
                        !item.key().empty();
      out += bare ? item.key() : Json(item.key()).dump();
      out += ':';
    }
    if (plain(value) || value.empty()) {
      out += ' ';
      out += value.dump();
      out += '\n';
    } else if (json.is_array() && value.is_object()) {
      // A list's map begins on the line of its dash.
      std::string inner;
      write_yaml(value, indent + 2, inner);
      out += ' ';
      out.append(inner, indent + 2);
    } else {
      out += '\n';
      write_yaml(value, indent + 2, out);
    }
  }
}

}  // namespace

std::string to_text(const Fit& fit, bool json) {
  const Json made = document(fit);
  std::string text;
  if (json) {
    text = made.dump(1, ' ', false, Json::error_handler_t::replace);
    text += '\n';
    return text;
  }
  write_yaml(made, 0, text);
  return text;
}

namespace {

// A file that says so where a fit does, not one that speaks of fits.
bool is_fit(std::string_view start) {
  const bool yaml = start.starts_with("# A twin of dm-engine") && start.find("\nformat: ") != std::string_view::npos;
  return yaml || start.starts_with("format: ") || start.starts_with("{\n \"format\": 1,\n \"engine\": ");
}

}  // namespace

Status write_fit(const Fit& fit, const std::string& path) {
  auto output = Output::open(path);
  if (!output) return tl::unexpected(output.error());
  DMPROF_TRY((*output)->claim("a fit", is_fit, "remove it"));
  (*output)->write(to_text(fit, path.ends_with(".json")));
  return (*output)->close();
}

}  // namespace dmprof::twin
