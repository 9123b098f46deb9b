#include <algorithm>
#include <cstring>

#include "collectors/attach/session.h"
#include "dmprof/ring/process.h"

namespace dmprof::attach {
namespace {

bool same(const ring::PageKnob& a, const ring::PageKnob& b) {
  return a.since == b.since && a.value == b.value && a.type == b.type && a.range == b.range && a.how == b.how &&
         a.handle == b.handle && a.unit == b.unit;
}

// What nothing turns is no knob. Only of the model: an engine must not tell of the machine, or of the recorder.
bool is_fact(const ring::PageKnob& knob) { return knob.how == "fact" && knob.name.starts_with("model."); }

}  // namespace

Status Session::introduce(std::uint32_t host_domain) {
  const ring::PageIdentity& identity = page_.identity();
  const auto process =
      sink_.add_process({identity.pid, identity.parent_pid, identity.engine, ring::command_of(identity.pid)});
  if (!process) return tl::unexpected(process.error());
  process_ = *process;
  domains_.assign(1, host_domain);
  if (!identity.engine_version.empty()) DMPROF_TRY(sink_.set_environment("engine_version", identity.engine_version));
  return refresh();
}

Status Session::refresh() {
  const auto counts = page_.counts();
  if (!counts) return tl::unexpected(counts.error());
  if (counts->names > decoder_.names()) {
    const auto names = page_.names(static_cast<std::uint32_t>(decoder_.names()), counts->names);
    if (!names) return tl::unexpected(names.error());
    for (const std::string& name : *names) decoder_.add_name(sink_.intern(name));
  }
  if (counts->clocks > domains_.size()) {
    const auto clocks = page_.clocks(counts->clocks);
    if (!clocks) return tl::unexpected(clocks.error());
    for (std::size_t i = domains_.size(); i < clocks->size(); ++i) {
      const ClockKind kind = (*clocks)[i].kind == static_cast<std::uint32_t>(ClockKind::device)
                                 ? ClockKind::device
                                 : ClockKind::virtual_time;
      const auto domain = sink_.add_clock({(*clocks)[i].name, kind, "as the engine states it"});
      if (!domain) return tl::unexpected(domain.error());
      domains_.push_back(*domain);
    }
  }
  if (tables_pending_ || counts->table_version != table_version_) {
    table_version_ = counts->table_version;
    tables_pending_ = false;
    DMPROF_TRY(refresh_knobs(counts->knobs));
    DMPROF_TRY(refresh_capacities(counts->capacities));
  }
  untracked_ = std::max(untracked_, counts->untracked);
  return meet_tracks(counts->tracks);
}

Status Session::refresh_knobs(std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto knob = page_.knob(i);
    if (!knob) return tl::unexpected(knob.error());
    if (!*knob) {
      tables_pending_ = true;
      continue;
    }
    const bool known = i < knobs_.size() && !knobs_[i].name.empty();
    if (known && same(knobs_[i], **knob)) continue;
    if (knobs_.size() <= i) knobs_.resize(i + 1u);
    knobs_[i] = **knob;
    const ring::PageKnob& k = knobs_[i];
    if (is_fact(k)) {
      DMPROF_TRY(sink_.set_environment(k.name, k.value));
      continue;
    }
    // What was set before the attachment holds from the start.
    const TimeNs since = known && k.since != 0 ? clock_.map().time(k.since) : 0;
    DMPROF_TRY(sink_.add_knob({process_, k.name, k.value, k.type, k.range, k.how, k.handle, k.unit, since}));
  }
  return {};
}

Status Session::refresh_capacities(std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto entry = page_.capacity(i);
    if (!entry) return tl::unexpected(entry.error());
    if (!*entry) {
      tables_pending_ = true;
      continue;
    }
    const ring::PageCapacity& c = **entry;
    const auto tier = sink_.add_capacity({process_, c.name, c.kind, c.rank, c.managed != 0, c.size_bytes,
                                          c.datasheet_bandwidth, c.measured_bandwidth, c.peak_flops, c.units});
    if (!tier) return tl::unexpected(tier.error());
    decoder_.set_tier(i + 1, *tier);
  }
  return {};
}

Status Session::meet_tracks(std::uint32_t count) {
  DMPROF_TRY(page_.tracks(count, entries_));
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const dmprof_track_entry& entry = entries_[i];
    const auto index = static_cast<std::uint16_t>(i);
    const bool alive = entry.state == DMPROF_TRACK_LIVE || entry.state == DMPROF_TRACK_ENDED;
    if (!alive || entry.generation != generation_ || generation_ == 0) continue;
    const auto known = accounts_.find(index);
    if (known != accounts_.end() && known->second.incarnation == entry.incarnation) {
      read_account(known->second, entry);
      continue;
    }
    if (known != accounts_.end()) DMPROF_TRY(settle(index, "detached"));
    const std::uint32_t clock = entry.clock < domains_.size() ? entry.clock : 0;
    const std::string name = ring::clean_text(entry.name, ::strnlen(entry.name, sizeof entry.name));
    const auto track = sink_.add_track({process_, entry.thread_id, domains_[clock], name});
    if (!track) return tl::unexpected(track.error());
    decoder_.bind(index, *track, clock == 0 ? clock_.map() : own_clock_);
    Account& account = accounts_[index];
    account = Account{};
    account.track = *track;
    account.incarnation = entry.incarnation;
    read_account(account, entry);
  }
  return {};
}

}  // namespace dmprof::attach
