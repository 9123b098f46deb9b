# Sourced by the end-to-end tests: an empty work folder, the programs on PATH, and how a test fails.
set -u
export PATH="$1:$PATH" LC_ALL=C NO_COLOR=1
source_dir=${DMPROF_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
started=""
cleanup() {
  for pid in $(jobs -rp); do kill -KILL "$pid" 2>/dev/null; done
  # A number may have gone to another process meanwhile.
  for pid in $started; do grep -qs '^dm-minimal$' "/proc/$pid/comm" && kill -KILL "$pid"; done
  rm -rf "$work"
}
trap cleanup EXIT
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run" XDG_DATA_HOME="$work/data" HOME="$work"
cd "$work" || exit 1
for variable in $(compgen -e | grep '^DM_'); do unset "$variable"; done

target=$(ls "$source_dir"/samples/models/*target*.gguf | head -n 1)
draft=$(ls "$source_dir"/samples/models/*draft*.gguf | head -n 1)

die() {
  echo "FAILED: $* (DMPROF_TEST_SEED=$seed)" >&2
  for file in "$work"/*.err; do [ -s "$file" ] && tail -n 5 "$file" | sed "s|^|  $(basename "$file"): |" >&2; done
  exit 1
}

# value RECORDING SQL: the one number the query gives.
value() { dmprof query "$1" "$2" --csv 2>>query.err | tail -n 1 | tr -d '\r'; }

# rows_of RECORDING TABLE: a sum over the table's rows, which two runs of one seed have alike. Tracks and names are numbered
# in the order in which the rings are read, so that both go by their text, and rows are sorted. Tables without rows are
# never alike.
rows_of() {
  dmprof query "$1" "SELECT k.name AS track_name, t.* FROM $2 t JOIN track k ON k.id = t.track" --csv |
    python3 -c '
import csv, sys
rows = csv.reader(sys.stdin)
keep = [i for i, name in enumerate(next(rows, [])) if name not in ("track", "name_id")]
lines = sorted(",".join(row[i] for i in keep) for row in rows)
print(*lines or ["no rows in " + sys.argv[1]], sep="\n")' "$1" | cksum
}

# wait_for WHAT COMMAND...: until the command succeeds, or the test fails after a minute.
wait_for() {
  local what=$1 deadline=$((SECONDS + 60))
  shift
  until "$@"; do
    [ $SECONDS -lt $deadline ] || die "waited a minute for $what"
    sleep 0.02
  done
}

# finish PID WHAT: its exit status, or the test fails when it has not ended after a minute.
finish() {
  ended() { ! kill -0 "$1" 2>/dev/null || grep -qs '^State:.*Z' "/proc/$1/status"; }
  wait_for "$2 to end" ended "$1"
  wait "$1"
}

# start_engine: dm-minimal that runs until it is killed, in $engine, and can be attached to.
start_engine() {
  dm-minimal 2000000000 >out.txt 2>engine.err &
  engine=$!
  started="$started $engine"
  wait_for "the engine's control page" test -s "$XDG_RUNTIME_DIR/dmprof/$engine.ctl"
}

# committed RECORDING: events that are in it already; fails while there is not even a table.
committed() { dmprof query "$1" 'SELECT sum(rows) FROM chunk' --csv 2>query.err | tail -n 1 | tr -d '\r'; }
holds() { [ "$(committed "$1")" -ge "${2:-1}" ] 2>/dev/null; }

# Random moments: DMPROF_TEST_SEED repeats a run.
seed=${DMPROF_TEST_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
RANDOM=$seed
random_pause() { sleep "0.$(printf '%03d' $((RANDOM % ${1:-400})))"; } # up to so many milliseconds

same() { [ "$2" = "$3" ] || die "$1: the engine says $2, the recording $3"; }

# A recording is whole: every event the engine counted is stored or counted as lost.
balanced() {
  local wrong
  wrong=$(value "$1" 'SELECT count(*) FROM balance WHERE emitted IS NOT NULL AND emitted <> lost + recorded')
  [ "$wrong" = 0 ] || die "$1: emitted is not stored + lost on $wrong tracks"
}
