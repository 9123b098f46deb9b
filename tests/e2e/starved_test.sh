#!/usr/bin/env bash
# A recorder that stands still while the engine emits loses events, counts them all, and says so in the metric and the diagnosis.
. "$(dirname "$0")/common.sh" || exit 1

start_engine
dmprof attach --pid "$engine" -o starved.dmprof 2>attach.err &
recorder=$!
started="$started $recorder"
wait_for "the first commit" holds starved.dmprof
kill -STOP "$recorder"
# The engine itself says when its ring is full: field lost[ring_full] of its first track, in its control page (dmprof/sdk/abi.h).
page="$XDG_RUNTIME_DIR/dmprof/$engine.ctl"
tracks=$(($(stat -c %s "$page") - 4096 * 128))
lost_in_page() { [ "$(od -An -j $((tracks + 8)) -N 8 -tu8 "$page" | tr -d ' ')" -gt 0 ]; }
wait_for "the ring to be full" lost_in_page
kill -CONT "$recorder"
more_than() { holds starved.dmprof $(($1 + 1)); }
wait_for "the recorder to go on" more_than "$(committed starved.dmprof)"
kill -INT "$recorder"
finish "$recorder" "the starved recorder" || die "the starved recording failed"
lost=$(value starved.dmprof "SELECT sum(events) FROM loss WHERE cause = 'ring_full'")
[ "${lost:-0}" -gt 0 ] || die "a recorder that stood still until the ring was full lost nothing"
balanced starved.dmprof
grep -q "lost (" attach.err || die "the summary does not name the losses"
shown=$(dmprof --metric events_lost --run starved.dmprof --json 2>>metric.err | tr -d '\n ' | sed -E 's/.*"name":"events_lost","value":([0-9.e+]+).*/\1/')
awk -v a="$shown" -v b="$(value starved.dmprof 'SELECT sum(events) FROM loss')" 'BEGIN { exit !(a == b) }' || die "events_lost says $shown"
