# Sourced by the tests that compare what the engine counts itself (engine.json) with the recording of the same run.

# The engine's own count by name, from the "counts" object of its JSON.
counted() { tr -d '\n ' <engine.json | sed -E 's/.*"counts":\{([^}]*)\}.*/\1/' | tr ',' '\n' | sed -n "s/^\"$1\"://p"; }

# counts_match RECORDING: every count is the recording's, the account balances, nothing was lost.
counts_match() {
  local recording=$1 name point
  recorded() { value "$recording" "SELECT $1"; }
  same requests "$(counted requests)" "$(recorded "count(*) FROM request_event WHERE point = 'arrive'")"
  same ended "$(counted ended)" "$(recorded "count(*) FROM request_event WHERE point = 'end'")"
  same first_tokens "$(counted first_tokens)" "$(recorded "count(*) FROM request_event WHERE point = 'first_token'")"
  same failed "$(counted failed)" "$(recorded "count(*) FROM request_event WHERE point = 'fail'")"
  same scheduled "$(counted scheduled)" "$(recorded "count(*) FROM request_event WHERE point = 'schedule'")"
  same steps "$(counted steps)" "$(recorded 'count(*) FROM step')"
  same prefill_steps "$(counted prefill_steps)" "$(recorded "count(*) FROM step WHERE phase = 'prefill'")"
  same target_tokens "$(counted target_tokens)" "$(recorded 'coalesce(sum(target_tokens), 0) FROM step')"
  same sequence_steps "$(counted sequence_steps)" "$(recorded 'count(*) FROM speculation_step')"
  same drafting_steps "$(counted drafting_steps)" "$(recorded 'count(*) FROM speculation_step WHERE drafted > 0')"
  same baseline_steps "$(counted baseline_steps)" "$(recorded "count(*) FROM speculation_step WHERE cut = 'baseline'")"
  for name in drafted verified accepted emitted; do same "$name" "$(counted $name)" "$(recorded "coalesce(sum($name), 0) FROM speculation_step")"; done
  same block_hits "$(counted block_hits)" "$(recorded "count(*) FROM block_access WHERE outcome = 'hit'")"
  same block_late "$(counted block_late)" "$(recorded "count(*) FROM block_access WHERE outcome = 'late'")"
  same block_misses "$(counted block_misses)" "$(recorded "count(*) FROM block_access WHERE outcome = 'miss'")"
  for point in issued completed evicted_unused cancelled displaced; do
    same "prefetches_$point" "$(counted prefetches_$point)" "$(recorded "count(*) FROM prefetch WHERE point = '$point'")"
  done
  # A miss is polluted when the last thing that happened to its block was a prefetch that threw it out. One plan gives
  # all its prefetches the same time: a block that one of them throws out and a later one asks for again is back.
  same pollution_misses "$(counted pollution_misses)" "$(recorded "count(*) FROM (SELECT what, lag(what) OVER (PARTITION BY id ORDER BY time, what) AS before FROM (
    SELECT time, 0 AS what, victim - 1 AS id FROM prefetch WHERE point = 'displaced' UNION ALL
    SELECT time, 1, block FROM prefetch WHERE point = 'issued' UNION ALL
    SELECT time, 2, block FROM block_access WHERE outcome = 'miss')) WHERE what = 2 AND before = 0")"
  same transfers "$(counted transfers)" "$(recorded 'count(*) FROM transfer')"
  same transfer_bytes "$(counted transfer_bytes)" "$(recorded 'coalesce(sum(bytes), 0) FROM transfer')"
  same kernels "$(counted kernels)" "$(recorded 'count(*) FROM kernel')"
  [ "$(counted emitted)" -gt 0 ] || die "the engine emitted nothing"
  balanced "$recording"
  [ "$(recorded 'coalesce(sum(events), 0) FROM loss')" = 0 ] || die "events were lost on an idle recorder"
}
