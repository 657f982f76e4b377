# Thin front of meson and ninja.  `make` builds build/baton; `make test` and `make demo` do all the
# set-up on a fresh Debian 12.
#
#   make test       every tier, three at any time (tools/test): about six minutes on two cores
#   make test-full  the same with every crash point, longer fuzzing, and TSan
#   make crash      the real program killed at every point and system call; prints the table
#   make mutate     every guarantee broken on purpose: some test must notice
#   make fuzz       every parser under libFuzzer, SECONDS=60 each
#   make install    PREFIX=/usr/local DESTDIR=: program, completion, man pages, systemd unit, documentation
#   make deb        build/baton_VERSION_ARCH.deb for this Debian release
#   make check      layers, formatting, coverage table, contracts, the dashboard's types
#   make bench      workloads beside their floor, ratios of one run
#   make bench-large  a run of a million steps, a million runs that wait

.PHONY: install deb deb-check all deps build sanitized tracer fuzzers test test-full demo check crash mutate bench bench-build bench-large fuzz tsan tidy describe format clean

PYTEST = /usr/bin/python3 -m pytest -q -p no:cacheprovider

all: build

# Whatever build or test needs, once; tools/install-deps knows when nothing is missing.
deps:
	@tools/install-deps

build: deps
	@tools/build build --buildtype=release
	@ninja -C build --quiet src/baton
	@ln -sf src/baton build/baton

# The same program and every unit test under ASan and UBSan.  At a fixed address: ASan's tables hold
# 300 000 addresses, and to move them takes a third of each of the thousands of starts.
sanitized: deps
	@tools/build build/sanitized --buildtype=debugoptimized -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false \
		-Db_pie=false -Dc_args=-fno-pie -Dc_link_args=-no-pie
	@ninja -C build/sanitized --quiet

# Here a warning is an error; elsewhere another compiler's new warning should not stop a build.
test test-full: export BATON_WERROR = true

# What the crash rig runs the program under.
tracer: build
	@ninja -C build --quiet tests/crash/tracer

# Every parser under libFuzzer.
fuzzers: deps
	@tools/fuzz 0

test: build sanitized tracer fuzzers
	@tools/test

test-full: build sanitized tracer fuzzers
	@BATON_TEST_FULL=1 tools/test

PREFIX ?= /usr/local
install:
	@[ -x build/baton ] || $(MAKE) --no-print-directory build
	@tools/install "$(PREFIX)" "$(DESTDIR)"

deb: build
	@tools/deb

# The package on a clean Debian 12 below build/; needs root and a mirror.
deb-check: deb
	@tools/deb-check

demo: build
	@build/baton demo

check: build
	@tools/check

crash: build tracer
	@$(PYTEST) tests/crash --all-points

mutate: build sanitized
	@tools/mutate --all

fuzz: deps
	@tools/fuzz $(or $(SECONDS),60)

# Criterion does not start under TSan, so the threads are watched in the program itself.
tsan: deps
	@tools/build build/tsan --buildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false
	@ninja -C build/tsan --quiet src/baton
	@BATON=build/tsan/src/baton TSAN_OPTIONS="exitcode=66 halt_on_error=1" $(PYTEST) tests/scenario

tidy: build
	@git ls-files 'src/*.c' | xargs -P 2 -n 4 clang-tidy -p build --quiet

# A build of its own, with the tool that makes documents.
bench-build: deps
	@tools/build build/bench-build --buildtype=release -Dbench=true
	@ninja -C build/bench-build --quiet src/baton bench/bench_floor bench/bench_store bench/bench_w1_client bench/bench_json bench/bench_kept_document bench/bench_websockets bench/bench_provider

bench: bench-build
	@tools/bench

bench-large: bench-build
	@tools/bench large

# Keeps the listing that later programs are compared with.
describe: build
	@tools/describe

format:
	@tools/format

clean:
	rm -rf build
