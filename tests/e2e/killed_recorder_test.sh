#!/usr/bin/env bash
# A recorder that is killed at any moment leaves a recording that opens and says it was interrupted; the engine runs on and
# can be recorded again.
. "$(dirname "$0")/common.sh"

dm-minimal 2000000000 >out.txt 2>engine.err &
engine=$!
started="$engine"
for _ in $(seq 500); do dmprof doctor --json 2>/dev/null | grep -q "\"pid\": $engine" && break; sleep 0.02; done

for delay in 0.3 0.55 0.8; do
  dmprof attach --pid "$engine" -o "cut-$delay.dmprof" 2>attach.err &
  recorder=$!
  started="$started $recorder"
  sleep "$delay"
  while [ ! -s "cut-$delay.dmprof" ]; do sleep 0.02; done
  kill -KILL "$recorder"
  wait "$recorder" 2>/dev/null
  kill -0 "$engine" || die "the engine died with its recorder"
  # Killed before the first commit there may be no schema yet: then a clear refusal is right, otherwise it must open.
  if dmprof query "cut-$delay.dmprof" 'SELECT count(*) FROM slice' >count.txt 2>query.err; then
    dmprof query "cut-$delay.dmprof" 'SELECT count(*) FROM process' >count.txt 2>query.err || die "the tables do not open"
  else
    [ "$(wc -l <query.err)" = 1 ] || die "an unreadable recording is not refused in one line"
  fi
done
dmprof attach --pid "$engine" --duration 0.5 -o whole.dmprof 2>again.err || die "the engine could not be recorded again"
[ "$(value whole.dmprof 'SELECT count(*) FROM slice')" -gt 0 ] || die "the second recording is empty"
balanced whole.dmprof
dmprof query "cut-0.8.dmprof" 'SELECT count(*) FROM slice' >count.txt 2>query.err || die "a recording killed after 0.8 s does not open"
[ "$(tail -n 1 count.txt | tr -d ' \r')" -gt 0 ] || die "a recording killed after 0.8 s holds nothing"
