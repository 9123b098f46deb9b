#include <algorithm>
#include <utility>

#include "collectors/attach/session.h"

namespace dmprof::attach {
namespace {

constexpr const char* causes[DMPROF_LOSS_CAUSES] = {"ring_full", "no_ring_memory", "too_deep", "unknown"};

// A count that no engine can reach: somebody scribbled over it.
constexpr std::uint64_t absurd = 1ull << 56;

void raise(std::uint64_t& known, std::uint64_t reading) {
  if (reading < absurd) known = std::max(known, reading);
}

}  // namespace

void Session::read_account(Account& account, const dmprof_track_entry& entry) {
  raise(account.emitted, entry.emitted);
  account.open = std::min<std::uint64_t>(entry.open, 2 * DMPROF_MAX_DEPTH + 1);
  for (std::size_t cause = 0; cause < account.lost.size(); ++cause) raise(account.lost[cause], entry.lost[cause]);
}

Status Session::tell(Account& account) {
  if (account.emitted > account.emitted_told) {
    DMPROF_TRY(sink_.add_emitted(account.track, account.emitted - account.emitted_told));
    account.emitted_told = account.emitted;
  }
  for (std::size_t cause = 0; cause < account.lost.size(); ++cause) {
    if (account.lost[cause] <= account.lost_told[cause]) continue;
    DMPROF_TRY(sink_.add_loss({account.track, causes[cause], account.lost[cause] - account.lost_told[cause]}));
    account.lost_told[cause] = account.lost[cause];
  }
  return {};
}

Status Session::settle(std::uint16_t index, const char* remainder_cause) {
  const auto found = accounts_.find(index);
  if (found == accounts_.end()) return {};
  Account account = found->second;
  accounts_.erase(found);
  const decode::TrackCounts counts = decoder_.unbind(index);
  // Spans that are open now have begun and will not be seen: they count as emitted too.
  account.emitted += account.open;
  const std::pair<const char*, std::uint64_t> losses[] = {
      {"decode_error", counts.malformed}, {"inconsistent", counts.contradictory}, {"unfinished", account.open}};
  std::uint64_t accounted = counts.decoded;
  for (const auto& [cause, events] : losses) {
    accounted += events;
    if (events != 0) DMPROF_TRY(sink_.add_loss({account.track, cause, events}));
  }
  for (const std::uint64_t events : account.lost) accounted += events;
  // An engine that is killed between writing a slot and counting it has counted one too few; events written after the
  // last drain are one of the differences the other way.
  account.emitted = std::max(account.emitted, accounted);
  if (account.emitted > accounted) {
    DMPROF_TRY(sink_.add_loss({account.track, remainder_cause, account.emitted - accounted}));
  }
  return tell(account);
}

Status Session::settle_untracked() {
  const std::uint64_t untracked = untracked_ < absurd ? untracked_ - untracked_before_ : 0;
  const std::uint64_t strays = decoder_.strays();
  if (untracked == 0 && strays == 0) return {};
  const auto track = sink_.add_track({process_, 0, domains_[0], "(events without a track)"});
  if (!track) return tl::unexpected(track.error());
  DMPROF_TRY(sink_.add_emitted(*track, untracked + strays));
  if (untracked != 0) DMPROF_TRY(sink_.add_loss({*track, "no_track_memory", untracked}));
  if (strays != 0) DMPROF_TRY(sink_.add_loss({*track, "decode_error", strays}));
  return {};
}

}  // namespace dmprof::attach
