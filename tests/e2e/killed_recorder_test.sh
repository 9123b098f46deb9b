#!/usr/bin/env bash
# A recorder that is killed at any moment leaves a recording that opens and says it was interrupted; the engine runs on and
# can be recorded again.
. "$(dirname "$0")/common.sh"

dm-minimal 2000000000 >out.txt 2>engine.err &
engine=$!
started="$engine"
for _ in $(seq 500); do dmprof doctor --json 2>/dev/null | grep -q "\"pid\": $engine" && break; sleep 0.02; done

count_in() { dmprof query "$1" 'SELECT count(*) FROM slice' --csv 2>query.err | tail -n 1 | tr -d '\r'; }

for moment in at-once early after-a-commit; do
  dmprof attach --pid "$engine" -o "$moment.dmprof" 2>attach.err &
  recorder=$!
  started="$started $recorder"
  while [ ! -s "$moment.dmprof" ]; do sleep 0.01; done
  [ $moment = early ] && sleep 0.1
  if [ $moment = after-a-commit ]; then
    until seen=$(count_in $moment.dmprof) && [ "${seen:-0}" -gt 0 ] 2>/dev/null; do
      kill -0 "$recorder" 2>/dev/null || die "the recorder ended by itself"
      sleep 0.05
    done
  fi
  kill -KILL "$recorder"
  wait "$recorder" 2>/dev/null
  kill -0 "$engine" || die "the engine died with its recorder"
  # Before the first commit there may be no table yet: then a clear refusal is right, otherwise it opens.
  count_in "$moment.dmprof" >count.txt || [ "$(wc -l <query.err)" = 1 ] || die "an unreadable recording is not refused in one line"
done
kept=$(count_in after-a-commit.dmprof)
[ "${kept:-0}" -ge "$seen" ] || die "$seen events had been committed, $kept are left"
dmprof diagnose after-a-commit.dmprof >diagnosis.txt 2>diagnosis.err || [ $? = 3 ] || die "a recording that was cut short cannot be diagnosed"
dmprof attach --pid "$engine" --duration 0.5 -o whole.dmprof 2>again.err || die "the engine could not be recorded again"
[ "$(value whole.dmprof 'SELECT count(*) FROM slice')" -gt 0 ] || die "the second recording is empty"
balanced whole.dmprof
