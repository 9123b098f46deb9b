#!/usr/bin/env bash
# What the engine counts itself (--json) is what the recording of the same run holds, event for event.
. "$(dirname "$0")/common.sh"

dmprof run -o run.dmprof -- dm-engine --model "$target" --draft "$draft" --lookahead 4 --prompt 'In the beginning' --max-tokens 48 \
  --threads 1 --resident 2MiB --backing throttle:2GB/s,20us --baseline-every 8 --json >engine.json 2>run.err || die "the recording failed"

# The engine's own count by name, from the "counts" object of its JSON.
counted() { tr -d '\n ' <engine.json | sed -E 's/.*"counts":\{([^}]*)\}.*/\1/' | tr ',' '\n' | sed -n "s/^\"$1\"://p"; }

recorded() { value run.dmprof "SELECT $1"; }
same requests "$(counted requests)" "$(recorded "count(*) FROM request_event WHERE point = 'arrive'")"
same ended "$(counted ended)" "$(recorded "count(*) FROM request_event WHERE point = 'end'")"
same first_tokens "$(counted first_tokens)" "$(recorded "count(*) FROM request_event WHERE point = 'first_token'")"
same steps "$(counted steps)" "$(recorded 'count(*) FROM step')"
same prefill_steps "$(counted prefill_steps)" "$(recorded "count(*) FROM step WHERE phase = 'prefill'")"
same target_tokens "$(counted target_tokens)" "$(recorded 'sum(target_tokens) FROM step')"
same sequence_steps "$(counted sequence_steps)" "$(recorded 'count(*) FROM speculation_step')"
same drafting_steps "$(counted drafting_steps)" "$(recorded 'count(*) FROM speculation_step WHERE drafted > 0')"
same baseline_steps "$(counted baseline_steps)" "$(recorded "count(*) FROM speculation_step WHERE cut = 'baseline'")"
for name in drafted verified accepted emitted; do same "$name" "$(counted $name)" "$(recorded "sum($name) FROM speculation_step")"; done
same block_hits "$(counted block_hits)" "$(recorded "count(*) FROM block_access WHERE outcome = 'hit'")"
same block_late "$(counted block_late)" "$(recorded "count(*) FROM block_access WHERE outcome = 'late'")"
same block_misses "$(counted block_misses)" "$(recorded "count(*) FROM block_access WHERE outcome = 'miss'")"
for point in issued completed evicted_unused cancelled displaced; do
  same "prefetches_$point" "$(counted prefetches_$point)" "$(recorded "count(*) FROM prefetch WHERE point = '$point'")"
done
# A miss is polluted when the last thing that happened to its block was a prefetch that threw it out.
same pollution_misses "$(counted pollution_misses)" "$(recorded "count(*) FROM (SELECT what, lag(what) OVER (PARTITION BY id ORDER BY time, what) AS before FROM (
  SELECT time, 0 AS what, block AS id FROM prefetch WHERE point = 'issued' UNION ALL
  SELECT time, 1, victim - 1 FROM prefetch WHERE point = 'displaced' UNION ALL
  SELECT time, 2, block FROM block_access WHERE outcome = 'miss')) WHERE what = 2 AND before = 1")"
same transfers "$(counted transfers)" "$(recorded 'count(*) FROM transfer')"
same transfer_bytes "$(counted transfer_bytes)" "$(recorded 'sum(bytes) FROM transfer')"
same kernels "$(counted kernels)" "$(recorded 'count(*) FROM kernel')"
[ "$(counted emitted)" -gt 0 ] || die "the engine emitted nothing"
[ "$(counted prefetches_displaced)" -gt 0 ] || die "no prefetch made room for itself: the pollution above was not tried"
balanced run.dmprof
[ "$(recorded 'coalesce(sum(events), 0) FROM loss')" = 0 ] || die "events were lost on an idle recorder"

# The playbook's own questions, a budget that sums to 1, and a diagnosis.
dmprof --metric prefetch_hit_rate,speculation_accuracy,tokens_per_step --run run.dmprof >metrics.txt 2>metrics.err || die "a metric was not answered: $(cat metrics.txt)"
sum=$(dmprof --metric time_budget --run run.dmprof --json 2>>metrics.err | tr -d '\n ' | sed -E 's/.*"name":"time_budget","value":([0-9.e-]+).*/\1/')
awk -v sum="$sum" 'BEGIN { exit !(sum > 0.99 && sum < 1.01) }' || die "the time budget sums to $sum"
dmprof diagnose run.dmprof >diagnosis.txt 2>diagnosis.err || die "no diagnosis"
grep -Eq '^ +sum +100\.0 %' diagnosis.txt || die "the printed budget does not sum to 100 %"
dmprof export run.dmprof --format perfetto -o run.pftrace 2>export.err || die "no Perfetto export"
dmprof export run.dmprof --format chrome -o run.json 2>export.err || die "no Chrome export"
[ -s run.pftrace ] && [ -s run.json ] || die "an export is empty"
