#!/usr/bin/env bash
# Rows of the table of claims under the recorder: the run that stands for a row is recorded with all its metrics, of a
# card as of a node, and a row that makes no run says so instead of leaving an empty file.
. "$(dirname "$0")/common.sh"
command -v dm-simcard >/dev/null || die "dm-simcard is not built"

row() { # ID
  dmprof run -o "$1.dmprof" -- dm-simcard --scenario "$1" --json >"$1.json" 2>"$1.err" || die "recording row $1"
  grep -q "one is recorded" "$1.err" || die "$1 does not say which run was recorded"
  balanced "$1.dmprof"
  same "$1: losses" 0 "$(value "$1.dmprof" 'SELECT coalesce(sum(events), 0) FROM loss')"
  same "$1: shares outside 0..1" "" "$(dmprof --metric "$all" --run "$1.dmprof" --json 2>/dev/null | python3 -c '
import json, sys
print(" ".join(m["name"] for m in json.load(sys.stdin)["metrics"] if m["status"] == "invalid"))')"
}
all=$(dmprof metrics --json | python3 -c 'import json,sys; print(",".join(m["name"] for m in json.load(sys.stdin)["metrics"]))')
metric() {
  dmprof --metric "$2" --run "$1.dmprof" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["metrics"][0]["value"])'
}
figure() {
  python3 -c 'import json,sys; print([f["value"] for s in json.load(open(sys.argv[1]))["scenarios"] for f in s["figures"] if f["name"] == sys.argv[2]][0])' "$1.json" "$2"
}
near() { # WHAT A B SHARE
  python3 -c 'import sys; a, b, s = map(float, sys.argv[1:]); sys.exit(not abs(a - b) <= s * abs(b))' "$2" "$3" "$4" || die "$1: $2 is not $3"
}

row A11
near "batch of 16: tokens a second" "$(metric A11 throughput)" "$(figure A11 tokens_per_s_batch_16)" 0.02
[ "$(value A11.dmprof "SELECT count(*) FROM knob WHERE name = 'max_concurrent' AND value = '16'")" = 1 ] || die "A11: knobs"
row B7
near "memory that the caches fill" "$(metric B7 kv_cache_usage)" 0.9 0.1
same "B7: preemptions" "$(figure B7 serving_pool_preemptions | sed 's/\.0$//')" \
  "$(value B7.dmprof "SELECT count(*) FROM request_event WHERE point = 'preempt'")"
same "B7: none of them is computed again" 0.0 "$(metric B7 recompute_share)"
near "B7: bytes over the pool's link" "$(value B7.dmprof "SELECT sum(bytes) / 1e9 FROM transfer WHERE 'cxl' IN (from_tier, to_tier)")" \
  "$(figure B7 serving_pool_moved_gb)" 0.001
row A14
# The figure averages over prefills too, in which nobody drafts.
near "A14: queue for the engines" "$(metric A14 speculation_engine_queue)" "$(figure A14 engine_queue)" 0.25

dmprof run -o a12.dmprof -- dm-simcard --scenario A12 >a12.txt 2>a12.err
same "closed form: exit status" 6 $?
grep -q "^dm-simcard: A12 is computed in closed form" a12.err || die "A12 does not say why nothing is recorded"
[ -e a12.dmprof ] && die "A12 left an empty recording"
[ -s a12.txt ] || die "A12 was not printed"
# The same row gives the same recording.
mv A14.dmprof first.dmprof
row A14
for table in slice step speculation_step transfer; do
  [ "$(rows_of first.dmprof "$table")" = "$(rows_of A14.dmprof "$table")" ] || die "$table of two runs of one row differ"
done
echo "ok"
