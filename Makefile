# Thin front of meson and ninja.  `make` builds build/baton; `make test` and `make demo` do all the
# set-up on a fresh Debian 12.

.PHONY: all deps build test demo check crash bench format tidy fuzz clean sanitized

all: build

# Whatever build or test needs, once; tools/install-deps knows when nothing is missing.
deps:
	@tools/install-deps

build: deps
	@test -f build/build.ninja || meson setup build --buildtype=release -Db_lto=false >build-setup.log 2>&1 || { cat build-setup.log; exit 1; }
	@rm -f build-setup.log
	@ninja -C build src/baton $(if $(VERBOSE),-v,--quiet)
	@ln -sf src/baton build/baton

# The same program and every unit test under ASan and UBSan.
sanitized: deps
	@test -f build/sanitized/build.ninja || meson setup build/sanitized --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false >build-setup.log 2>&1 || { cat build-setup.log; exit 1; }
	@rm -f build-setup.log
	@ninja -C build/sanitized --quiet

test: build sanitized
	@tools/test

demo: build
	@tools/demo

check: deps
	@tools/check

crash: build
	@/usr/bin/python3 -m pytest -q -p no:cacheprovider tests/crash --all-points

bench: build
	@ninja -C build --quiet bench/bench_floor bench/bench_w1_client
	@tools/bench

format:
	@git ls-files '*.c' '*.h' | grep -vE '^src/contract/(expand|tables|rows)\.h$$' | xargs clang-format -i

clean:
	rm -rf build
