#!/usr/bin/env bash
# Ctrl-C and SIGTERM end a recording in order: it is finished, balanced and answers questions.
. "$(dirname "$0")/common.sh" || exit 1

set -m # a shell without job control starts background commands with SIGINT ignored
for signal in INT TERM; do
  dmprof run -o "$signal.dmprof" -- dm-minimal 2000000000 >out.txt 2>run.err &
  recorder=$!
  started="$started $recorder"
  wait_for "the first commit" holds "$signal.dmprof"
  kill -"$signal" "$recorder"
  finish "$recorder" "the recorder after SIG$signal" || die "SIG$signal made the recording fail"
  grep -q 'next: dmprof diagnose' run.err || die "there was no summary after SIG$signal"
  balanced "$signal.dmprof"
  [ "$(value "$signal.dmprof" 'SELECT count(*) FROM run WHERE finished IS NOT NULL')" = 1 ] || die "the recording was not finished"
  [ ! -e "$signal.dmprof-wal" ] || die "a log file was left beside the recording"
done
