#!/usr/bin/env bash
# An engine that is killed at any moment leaves a finished recording whose account balances.
. "$(dirname "$0")/common.sh"

for delay in 0.05 0.2 0.45; do
  dmprof run -o killed.dmprof -- sh -c 'echo $$ >engine.pid; exec dm-minimal 2000000000' >out.txt 2>run.err &
  recorder=$!
  started="$started $recorder"
  while [ ! -s engine.pid ]; do sleep 0.01; done
  started="$started $(cat engine.pid)"
  sleep "$delay"
  kill -KILL "$(cat engine.pid)"
  wait "$recorder" || die "the recorder failed after its engine was killed at $delay s"
  grep -q 'killed by SIGKILL' run.err || die "the end of the engine was not told"
  dmprof query killed.dmprof 'SELECT count(*) FROM slice' >count.txt 2>query.err || die "the recording does not open"
  balanced killed.dmprof
  dmprof --metric events_lost --run killed.dmprof >metric.txt 2>metric.err || die "events_lost was not answered: $(cat metric.txt)"
  rm -f engine.pid killed.dmprof
done
