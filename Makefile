# Presets for people. Each target does everything it needs on a fresh Debian 12, packages included.
JOBS ?= $(shell nproc)

.PHONY: help packages configure build demo test bench scorecard lint format asan tsan fuzz clean

help:            ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

packages:        ## install missing Debian packages
	@cmake/install-packages.sh

configure: packages
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }; rm -f build.log

build: configure ## release build into build/
	@cmake --build build -j $(JOBS)

demo: configure  ## decode with speculation, record it, diagnose it, try the fix
	@cmake --build build -j $(JOBS) --target dmprof dm-engine
	@samples/demo/run.sh

test: build      ## every test that needs no network
	@ctest --test-dir build --output-on-failure -j $(JOBS)

bench: packages  ## the figures of the README's benchmark section, as ratios
	@cmake --preset bench >/dev/null && cmake --build --preset bench -j $(JOBS)
	@tests/bench/run.sh

scorecard: configure ## predicted beside measured gain of every fix over tests/scorecard/grid.txt; resumes where it was stopped
	@cmake --build build -j $(JOBS) --target dmprof dm-simcard dm-engine
	@tests/scorecard/scorecard.py build/bin --keep build/scorecard --markdown >build/scorecard.md
	@mv build/scorecard.md docs/scorecard.md && sed -n '/^## [a-z]*: [0-9]/,/^| all/p' docs/scorecard.md

lint:            ## include table, formatting
	@cmake/install-packages.sh clang-format
	@tests/lint/include_table.py .
	@tests/lint/format.sh --check

format:          ## reformat the sources
	@cmake/install-packages.sh clang-format
	@tests/lint/format.sh

asan tsan: packages  ## the tests under a sanitizer
	@cmake --preset $@ >/dev/null && cmake --build --preset $@ -j $(JOBS) && ctest --preset $@ -j $(JOBS)

fuzz:            ## build and briefly run the fuzzers
	@cmake/install-packages.sh clang
	@cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS) --target fuzzers && tests/fuzz/run.sh

clean:           ## remove every build folder
	@rm -rf build build-dev build-asan build-tsan build-fuzz build-train
