#!/usr/bin/env bash
# A recorder that stands still while the engine emits loses events, counts them all, and says so in the metric and the diagnosis.
. "$(dirname "$0")/common.sh"

dm-minimal 2000000000 >out.txt 2>engine.err &
engine=$!
started="$engine"
for _ in $(seq 500); do dmprof doctor --json 2>/dev/null | grep -q "\"pid\": $engine" && break; sleep 0.02; done
dmprof attach --pid "$engine" --duration 0.8 -o starved.dmprof 2>attach.err &
recorder=$!
started="$started $recorder"
while [ ! -s starved.dmprof ]; do sleep 0.01; done
sleep 0.2
kill -STOP "$recorder"
sleep 0.4
kill -CONT "$recorder"
wait "$recorder" || die "the starved recording failed"
lost=$(value starved.dmprof "SELECT sum(events) FROM loss WHERE cause = 'ring_full'")
[ "${lost:-0}" -gt 0 ] || die "a recorder that stood still for 0.4 s lost nothing"
balanced starved.dmprof
grep -q "lost (" attach.err || die "the summary does not name the losses"
shown=$(dmprof --metric events_lost --run starved.dmprof --json 2>>metric.err | tr -d '\n ' | sed -E 's/.*"name":"events_lost","value":([0-9.e+]+).*/\1/')
awk -v a="$shown" -v b="$(value starved.dmprof 'SELECT sum(events) FROM loss')" 'BEGIN { exit !(a == b) }' || die "events_lost says $shown"
