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
sum=$(dmprof --metric time_budget --run run.dmprof --json 2>>metrics.err | tr -d '\n ' | sed -E 's/.*"name":"time_budget","value":([0-9.e-]+).*/\1/')
awk -v sum="$sum" 'BEGIN { exit !(sum > 0.99 && sum < 1.01) }' || die "the time budget sums to $sum"
dmprof diagnose run.dmprof >diagnosis.txt 2>diagnosis.err || die "no diagnosis"
grep -Eq '^ +sum +100\.0 %' diagnosis.txt || die "the printed budget does not sum to 100 %"
dmprof export run.dmprof --format perfetto -o run.pftrace 2>export.err || die "no Perfetto export"
dmprof export run.dmprof --format chrome -o run.json 2>export.err || die "no Chrome export"
[ -s run.pftrace ] && [ -s run.json ] || die "an export is empty"
