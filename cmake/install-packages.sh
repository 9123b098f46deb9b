#!/usr/bin/env bash
# Lists what is missing for building and testing dmprof on Debian 12, then installs it with apt.
# usage: cmake/install-packages.sh [--check] [PACKAGE…]      --check only lists (exit 6 when something is missing); PACKAGE: wanted besides
set -eu
packages=(
  build-essential cmake ninja-build pkg-config ccache git python3   # tools
  libcli11-dev libfmt-dev nlohmann-json3-dev libyaml-cpp-dev        # command line, text, rules
  libexpected-dev libsqlite3-dev sqlite3 libzstd-dev                # errors as values, the recording
  libhwy-dev                                                        # SIMD of the calibration
  libgtest-dev libgmock-dev libbenchmark-dev                        # tests and benchmarks
)
check=no
[ "${1:-}" = --check ] && { check=yes; shift; }
packages+=("$@")
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "missing packages: ${missing[*]}" >&2
[ "$check" = yes ] && exit 6

command -v apt-get >/dev/null || {
  echo "install-packages: no apt-get here; install the packages above by hand (Debian 12 is what is tested)" >&2
  exit 6
}
sudo=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "install-packages: not root and no sudo; run as root: apt-get install ${missing[*]}" >&2
    exit 6
  }
  sudo=sudo
fi
. /etc/os-release
[ "${ID:-}:${VERSION_ID:-}" = debian:12 ] || echo "note: ${PRETTY_NAME:-this system} is untested, Debian 12 is what is tested" >&2
$sudo apt-get update -q >/dev/null
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
echo "installed." >&2
