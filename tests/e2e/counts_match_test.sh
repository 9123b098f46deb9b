#!/usr/bin/env bash
# What the engine counts itself (--json) is what the recording of the same run holds, event for event.
. "$(dirname "$0")/common.sh" || exit 1
. "$source_dir/tests/e2e/counts.sh" || exit 1

dmprof run -o run.dmprof -- dm-engine --model "$target" --draft "$draft" --lookahead 4 --prompt 'In the beginning' --max-tokens 48 \
  --threads 1 --resident 2MiB --backing throttle:2GB/s,20us --baseline-every 8 --json >engine.json 2>run.err || die "the recording failed"

counts_match run.dmprof
[ "$(counted prefetches_displaced)" -gt 0 ] || die "no prefetch made room for itself: the pollution counted was not tried"

# The playbook's own questions, a budget that sums to 1, and a diagnosis.
dmprof --metric prefetch_hit_rate,speculation_accuracy,tokens_per_step --run run.dmprof >metrics.txt 2>metrics.err || die "a metric was not answered: $(cat metrics.txt)"
dmprof --metric time_budget --run run.dmprof --json 2>>metrics.err | tr -d '\n ' >budget.json
part() { sed -nE "s/.*\"name\":\"$1\",\"value\":([0-9.e-]+).*/\1/p" budget.json; }
awk -v sum="$(part time_budget)" 'BEGIN { exit !(sum > 0.99 && sum < 1.01) }' || die "the time budget sums to $(part time_budget)"
# Its parts against the same shares straight from the tables: steps kept are those of decode after the first, without the
# baseline's; their time runs from the first of them to the last, less the baseline's between.
kept="WITH baseline AS (SELECT DISTINCT step FROM speculation_step WHERE cut = 'baseline'),
  kept AS (SELECT * FROM step WHERE phase = 'decode' AND step NOT IN (SELECT step FROM baseline)
    AND step > (SELECT min(step) FROM step WHERE phase = 'decode')),
  wall AS (SELECT max(start + duration) - min(start) - (SELECT coalesce(sum(duration), 0) FROM step
    WHERE step IN (SELECT step FROM baseline) AND start > (SELECT min(start) FROM kept) AND start < (SELECT max(start) FROM kept)) AS ns FROM kept)"
# near NAME SHARE SHARE: within a hundredth of wall time.
near() { awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && b != "" && a - b < 0.01 && b - a < 0.01) }' || die "$1: $2 by the budget, $3 by the tables"; }
waited="sum(wait) / (SELECT ns FROM wall) FROM block_access WHERE step IN (SELECT step FROM kept)"
near "waiting for misses" "$(part memory_stall)" "$(value run.dmprof "$kept SELECT 1.0 * $waited AND outcome = 'miss'")"
near "waiting for prefetches" "$(part prefetch_wait)" "$(value run.dmprof "$kept SELECT 1.0 * $waited AND outcome = 'late'")"
near "draft and verify with their waits" "$(awk -v a="$(part draft)" -v b="$(part verify)" -v c="$(part memory_stall)" -v d="$(part prefetch_wait)" \
  'BEGIN { print a + b + c + d }')" "$(value run.dmprof "$kept SELECT 1.0 * sum(draft_time + verify_time) / (SELECT ns FROM wall) FROM kept")"
awk -v verify="$(part verify)" 'BEGIN { exit !(verify > 0.2) }' || die "verification takes $(part verify) of the budget: nothing was compared"
dmprof diagnose run.dmprof >diagnosis.txt 2>diagnosis.err || die "no diagnosis"
grep -Eq '^ +sum +100\.0 %' diagnosis.txt || die "the printed budget does not sum to 100 %"
dmprof export run.dmprof --format perfetto -o run.pftrace 2>export.err || die "no Perfetto export"
dmprof export run.dmprof --format chrome -o run.json 2>export.err || die "no Chrome export"
[ -s run.pftrace ] && [ -s run.json ] || die "an export is empty"
