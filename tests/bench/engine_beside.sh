#!/usr/bin/env bash
# The reference engine's tokens/s and CPU time under full recording, and beside one CPU hog, as ratios to the engine alone. Runs
# are interleaved in pairs whose order alternates; a ratio is taken inside each pair. CPU time is that of the engine's process,
# loading included: it still tells something on a machine that other work shares, where tokens/s do not.
# usage: engine_beside.sh BIN_DIR MODEL [PAIRS [TOKENS]]
set -eu
bin=$1 model=$2 pairs=${3:-10} tokens=${4:-128}
work=$(mktemp -d)
hog=""
stop_hog() { [ -z "$hog" ] || kill "$hog" 2>/dev/null || true; hog=""; }
trap 'stop_hog; rm -rf "$work"' EXIT
export XDG_DATA_HOME="$work"
engine=("$bin/dm-engine" --model "$model" --prompt 'a' --max-tokens "$tokens" --threads 2 --json)

timed=(bash -c 'TIMEFORMAT="%U %S"; { time "$@" >"$0.json"; } 2>"$0.cpu"' "$work/run" "${engine[@]}")

# tokens/s and CPU seconds of the run just made
figures() { echo "$(sed -n 's/.*"tokens_per_second": *\([0-9.e+]*\).*/\1/p' "$work/run.json") $(awk '{ print $1 + $2 }' "$work/run.cpu")"; }
alone() { "${timed[@]}" && figures; }
recorded() { "$bin/dmprof" run -o "$work/run.dmprof" -- "${timed[@]}" 2>"$work/run.err" >/dev/null && figures; }
hogged() {
  (while :; do :; done) >/dev/null &
  hog=$!
  alone
  stop_hog
}

# compare NAME VARIANT: median of VARIANT/alone over the pairs, with quartiles and the median of each side.
compare() {
  local name=$1 variant=$2 i a b
  : >"$work/pairs"
  for i in $(seq "$pairs"); do
    if [ $((i % 2)) = 0 ]; then
      a=$(alone) b=$("$variant")
    else
      b=$("$variant") a=$(alone)
    fi
    echo "$a $b" >>"$work/pairs"
  done
  awk -v name="$name" '
    function at(list, n, q,   i, f) { i = 1 + (n - 1) * q; f = int(i); return f >= n ? list[n] : list[f] + (i - f) * (list[f + 1] - list[f]) }
    function sort(list, n,   i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t } }
    { n++; alone[n] = $1; cpu[n] = $4 / $2; beside[n] = $3; ratio[n] = $3 / $1 }
    END {
      sort(ratio, n); sort(alone, n); sort(beside, n); sort(cpu, n)
      printf "%s: %.4f x its speed alone (quartiles %.4f to %.4f, %d pairs; %.1f and %.1f tokens/s)\n", name,
             at(ratio, n, .5), at(ratio, n, .25), at(ratio, n, .75), n, at(beside, n, .5), at(alone, n, .5)
      printf "%s: %.4f x the CPU time (quartiles %.4f to %.4f)\n", name, at(cpu, n, .5), at(cpu, n, .25), at(cpu, n, .75)
    }' "$work/pairs"
}

compare "under full recording" recorded
compare "beside one CPU hog" hogged
