#!/usr/bin/env bash
# A recorder that is killed at any moment leaves a recording that opens and says it was interrupted; the engine runs on and
# can be recorded again.
. "$(dirname "$0")/common.sh" || exit 1

echo "seed $seed"
start_engine

# killed RECORDING WAIT…: attaches, runs WAIT, kills the recorder. What had been committed before is in $before.
killed() {
  local recording=$1
  shift
  dmprof attach --pid "$engine" -o "$recording" 2>attach.err &
  local recorder=$!
  started="$started $recorder"
  wait_for "$recording to appear" test -s "$recording"
  "$@"
  before=$(committed "$recording" || true)
  kill -KILL "$recorder" || die "the recorder ended by itself"
  finish "$recorder" "a killed recorder" 2>/dev/null
  kill -0 "$engine" || die "the engine died with its recorder"
  # At most the open chunk is lost: all that had been committed is there. Before the first commit there may be no table
  # yet: only then a refusal is right, in one line.
  local kept
  if kept=$(committed "$recording") && [ -n "$kept" ]; then
    [ "$kept" -ge "${before:-0}" ] || die "$before events had been committed, $kept are left"
    [ "$(value "$recording" 'SELECT count(*) FROM run WHERE finished IS NULL')" = 1 ] || die "a killed recording says it was finished"
  else
    [ "${before:-0}" = 0 ] || die "$before events had been committed, and the recording does not open"
    [ "$(wc -l <query.err)" -le 1 ] || die "an unreadable recording is not refused in one line"
  fi
}

killed at-once.dmprof true
for i in 1 2 3 4; do killed "random-$i.dmprof" random_pause 700; done
killed committed.dmprof wait_for "the first commit" holds committed.dmprof
[ "${before:-0}" -gt 0 ] || die "nothing had been committed"
dmprof diagnose committed.dmprof >diagnosis.txt 2>diagnosis.err || [ $? = 3 ] || die "a recording that was cut short cannot be diagnosed"
dmprof attach --pid "$engine" --duration 0.5 -o whole.dmprof 2>again.err || die "the engine could not be recorded again"
[ "$(committed whole.dmprof)" -gt 0 ] || die "the second recording is empty"
balanced whole.dmprof
