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
  echo "FAILED: $*" >&2
  for file in "$work"/*.err; do [ -s "$file" ] && tail -n 5 "$file" | sed "s|^|  $(basename "$file"): |" >&2; done
  exit 1
}

# value RECORDING SQL: the one number the query gives.
value() { dmprof query "$1" "$2" --csv 2>>query.err | tail -n 1 | tr -d '\r'; }

same() { [ "$2" = "$3" ] || die "$1: the engine says $2, the recording $3"; }

# A recording is whole: every event the engine counted is stored or counted as lost.
balanced() {
  local wrong
  wrong=$(value "$1" 'SELECT count(*) FROM balance WHERE emitted IS NOT NULL AND emitted <> lost + recorded')
  [ "$wrong" = 0 ] || die "$1: emitted is not stored + lost on $wrong tracks"
}
