#!/usr/bin/env bash
# An engine that is killed at any moment leaves a finished recording whose account balances.
. "$(dirname "$0")/common.sh" || exit 1

echo "seed $seed"
cases=0
# killed_after WAIT… -- COMMAND…: starts the command under the recorder, runs WAIT, kills the command.
killed_after() {
  local until=()
  while [ "$1" != -- ]; do until+=("$1") && shift; done
  shift
  rm -f engine.pid killed.dmprof
  dmprof run -o killed.dmprof -- sh -c 'echo $$ >engine.pid; exec "$@"' sh "$@" >out.txt 2>run.err &
  local recorder=$! victim
  started="$started $recorder"
  wait_for "the engine to start" test -s engine.pid
  victim=$(cat engine.pid)
  started="$started $victim"
  "${until[@]}"
  kill -KILL "$victim" 2>/dev/null || die "the engine had ended before it was killed: $*"
  finish "$recorder" "the recorder of a killed engine" || { grep -q 'nothing was recorded' run.err && return; die "the recorder failed after its engine was killed (case $cases)"; }
  # A slow machine kills it before its first event: then there is an empty account and nothing to lose.
  if [ "$(value killed.dmprof 'SELECT coalesce(sum(emitted), 0) FROM balance')" = 0 ]; then return; fi
  cases=$((cases + 1))
  grep -q 'killed by SIGKILL' run.err || die "the end of the engine was not told"
  [ "$(committed killed.dmprof)" -gt 0 ] 2>/dev/null || die "the recording does not open, or holds no event"
  [ "$(value killed.dmprof 'SELECT count(*) FROM balance WHERE emitted > 0')" -gt 0 ] || die "there is no account to balance"
  balanced killed.dmprof
  [ "$(value killed.dmprof 'SELECT count(*) FROM run WHERE finished IS NOT NULL')" = 1 ] || die "the recording of a killed engine was not finished"
  dmprof --metric events_lost --run killed.dmprof >metric.txt 2>metric.err || die "events_lost was not answered: $(cat metric.txt)"
}

for _ in 1 2 3; do killed_after random_pause 300 -- dm-minimal 2000000000; done
killed_after wait_for "the first commit" holds killed.dmprof -- dm-minimal 2000000000
# The reference engine, streaming its weights: prefetch thread, several tracks, in the middle of a step.
for _ in 1 2; do
  killed_after random_pause 999 -- dm-engine --model "$target" --draft "$draft" --prompt 'In the beginning' --max-tokens 100000 \
    --threads 1 --resident 2MiB --backing throttle:200MB/s,20us
done
[ "$cases" -gt 0 ] || die "every engine was killed before it had emitted anything"
