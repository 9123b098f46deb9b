#!/usr/bin/env bash
# usage: tests/fuzz/run.sh [SECONDS [FUZZER…]]     runs each fuzzer of build-fuzz/ that long (20), from seeds in the tree
# What it finds is kept in build-fuzz/corpus; an input that breaks something is named, kept beside it, and ends the run with 1.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-20}
max_len=262144
least_edges=400 # a fuzzer whose libraries are built without coverage sees only its own (measured: 49 to 152)
shift || true
fuzzers=("$@")
[ $# -gt 0 ] || fuzzers=(gguf prompts decode recording rule)
corpus=build-fuzz/corpus
mkdir -p "$corpus"/{gguf,prompts,decode,recording,rule}
head -n 3 samples/models/prompts.jsonl >"$corpus/prompts/samples.jsonl"
cp rules/playbook/*.yaml "$corpus/rule/"
find tests/data -name '*.dmprof' -exec cp {} "$corpus/recording/" \;
# The smallest type: a seed longer than max_len would be cut, and every input made of it be refused for its length.
build-fuzz/bin/dm-engine synth --shape tiny --type q8_0 -o "$corpus/gguf/tiny.gguf" >/dev/null
# A slot of each kind on track 1, with room for the longest: time, name, track, kind, code, then payload (dmprof/sdk/abi.h).
for kind in 01 04 05 06 07 08 09 0a 0b 0c 0d; do
  printf "\\x10\\0\\0\\0\\0\\0\\0\\0\\x01\\0\\0\\0\\x01\\0\\x$kind\\0" >"$corpus/decode/kind_$kind"
  for _ in 1 2 3 4 5 6 7 8 9 10; do printf '\x02\0\0\0\0\0\0\0' >>"$corpus/decode/kind_$kind"; done
done
cut=$(find "$corpus" -mindepth 2 -size +"${max_len}c" ! -name '.*')
[ -z "$cut" ] || { echo "longer than $max_len bytes, so that only part of it would be used: $cut" >&2; exit 1; }
for fuzzer in "${fuzzers[@]}"; do
  echo "== fuzz_$fuzzer, $seconds s"
  log=build-fuzz/fuzz_$fuzzer.log
  if ! build-fuzz/fuzz/fuzz_"$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=$max_len \
    -artifact_prefix="$corpus/$fuzzer-" "$corpus/$fuzzer" >"$log" 2>&1; then
    grep -E 'ERROR|runtime error|Test unit|^    #[0-4] ' "$log" | head -n 12
    echo "fuzz_$fuzzer found something: $log" >&2
    exit 1
  fi
  edges=$(sed -nE 's/^INFO: Loaded .* \(([0-9]+) inline 8-bit counters\).*/\1/p' "$log" | head -n 1)
  if [ "${edges:-0}" -lt $least_edges ]; then
    echo "fuzz_$fuzzer is blind: ${edges:-0} edges are instrumented, the libraries it tests are not among them" >&2
    exit 1
  fi
  reached=$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1)
  echo "$(grep -E '^Done ' "$log"), reached ${reached#cov: } of $edges edges"
  if [ $((${reached#cov: } * 10)) -lt "$edges" ]; then
    echo "fuzz_$fuzzer is blind: its seeds are refused before anything is read (a tenth of the edges is the least seen otherwise)" >&2
    exit 1
  fi
done
