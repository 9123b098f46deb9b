#!/usr/bin/env bash
# Recording changes nothing about what the command prints, and its exit status is told but not taken over.
. "$(dirname "$0")/common.sh" || exit 1

arguments=(--model "$target" --draft "$draft" --prompt 'And it came to pass' --max-tokens 24 --threads 1)
dm-engine "${arguments[@]}" >plain.txt 2>plain.err || die "the engine failed"
dmprof run -o run.dmprof -- dm-engine "${arguments[@]}" >recorded.txt 2>run.err || die "the recording failed"
cmp -s plain.txt recorded.txt || die "the recorded engine printed something else"
[ -s plain.txt ] || die "the engine printed nothing"

dmprof run -o failing.dmprof -- sh -c 'dm-engine "$@" >/dev/null; exit 9' sh "${arguments[@]}" 2>failing.err || die "a failing command made the recording fail"
grep -q 'exit status 9' failing.err || die "the command's exit status was not told"
