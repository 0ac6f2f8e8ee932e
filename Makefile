# Everything sets itself up: as root, system packages that are missing are installed; else the apt line is printed.
# Two environments: .venv/base is what a production host gets, .venv/full adds [train] and [dev]. The Python tests run on the
# wheel, installed in build/installed beside what .venv/full holds; a single test runs on the sources with .venv/full.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

BASE := .venv/base
FULL := .venv/full
BUILDER := build/builder
WHEEL := build/wheel
INSTALLED := build/installed
PIP_INSTALL := pip install --quiet --disable-pip-version-check --constraint constraints.txt

AUDITOR := pip-audit==2.10.1

BUILD_TOOLS := scikit-build-core pybind11 cmake ninja

PROJECT := pyproject.toml constraints.txt CMakeLists.txt
ROOTS := agent env featurizer models native_pool pipelines serve
NATIVE := $(shell find native_pool -type f -not -path 'native_pool/python/*' -not -path 'native_pool/tests/*' \
    -not -path 'native_pool/fuzz/*')
PACKAGED := $(shell find $(ROOTS) -type f -path '*/poolpilot/*' -not -name '*.pyc' -not -name '*.so')
CPP := $(shell find native_pool -name '*.hpp' -o -name '*.cpp')

# What ccache has compiled in one clone it knows again in another.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CCACHE_SLOPPINESS := pch_defines,time_macros

.PHONY: help setup demo demo-mariadb demo-production test lint docs bench soak faults sanitize
.PHONY: screenshots style types tidy fuzz format man audit clean

help: ## show this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 17

setup: $(FULL)/.ready $(BASE)/.ready system-lab ## install system packages and both environments

demo: $(BASE)/.ready ## predict, climb and compare on the embedded live pool; the report goes to demo-out (SEED=n)
	@$(BASE)/bin/poolpilot demo $(if $(SEED),--seed $(SEED))

demo-mariadb: $(BASE)/.ready system-lab ## the same on a private MariaDB under sysbench; the report goes to demo-mariadb-out
	@$(BASE)/bin/poolpilot demo --mariadb $(if $(SEED),--seed $(SEED))

demo-production: $(BASE)/.ready system-lab ## a tuner on a private MariaDB whose load shifts, a bad prediction, a killed tuner (six minutes)
	@$(BASE)/bin/poolpilot demo --production $(if $(QUICK),--quick)

test: $(FULL)/.ready $(BASE)/.ready $(INSTALLED)/.ready system-lab ## C++ tests, then Python tests of the installed wheel
	@$(call native_tests,build/tests,)
	export POOLPILOT_BASE_PYTHON=$(CURDIR)/$(BASE)/bin/python POOLPILOT_INSTALLED=$(CURDIR)/$(INSTALLED)
	$(INSTALLED)/bin/python $(FULL)/bin/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

screenshots: $(FULL)/.ready $(INSTALLED)/.ready system-browser ## draw and check the live page in Chromium; pictures go to build/screenshots
	@POOLPILOT_INSTALLED=$(CURDIR)/$(INSTALLED) POOLPILOT_SCREENSHOTS=build/screenshots \
	    $(INSTALLED)/bin/python $(FULL)/bin/pytest -p no:xdist tests/serve/page/test_rendering.py

lint: style types docs tidy ## style, formats, types, the committed stub against the extension, the site, clang-tidy (minutes)

style: $(FULL)/.ready
	@set -x
	$(FULL)/bin/ruff check .
	$(FULL)/bin/ruff format --check .
	$(FULL)/bin/clang-format --dry-run -Werror $(CPP)

types: $(FULL)/.ready
	@set -x
	$(FULL)/bin/mypy
	$(FULL)/bin/stubtest --mypy-config-file pyproject.toml --allowlist native_pool/bindings/stub_differences.txt \
	    poolpilot.native_pool._core

tidy: $(FULL)/.ready
	@set -x
	PATH="$(CURDIR)/$(FULL)/bin:$$PATH" cmake -S . -B build/lint -G Ninja --log-level=WARNING -DPOOLPILOT_TESTS=ON \
	    -DPOOLPILOT_UNITY=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
	    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON $(WITH_EXTENSION) >/dev/null
	$(FULL)/bin/python -c "import json; print(*(unit['file'] for unit in json.load(open('build/lint/compile_commands.json'))))" |
	    xargs -P "$$(nproc)" -n 1 $(FULL)/bin/clang-tidy -p build/lint --quiet

docs: $(FULL)/.ready ## build the documentation site into build/site; a broken link or name is an error
	@mkdir -p build  # with --quiet, --strict would not see the warnings that it is to fail by
	$(FULL)/bin/mkdocs build --strict >build/docs.log 2>&1 || { grep -v INFO build/docs.log; exit 1; }

man: $(FULL)/.ready ## write docs/man/poolpilot.1 and docs/settings.md from the commands
	@$(FULL)/bin/python docs/man/manual_page.py
	@$(FULL)/bin/python docs/settings_page.py

bench: $(FULL)/.ready ## run an experiment and rewrite its tables (NAME=x; without, say what there is; QUICK=1; resumes)
	@$(FULL)/bin/python benchmarks/run.py $(NAME) $(if $(QUICK),--quick)

soak: test sanitize ## ten million requests under faults, then as many as the sanitizers bear (an hour; resumes)
	@$(FULL)/bin/python benchmarks/run.py soak

faults: $(FULL)/.ready system-lab ## the long tests, then every fault of tuner and service twenty times (an hour; resumes)
	@$(FULL)/bin/pytest -m long
	$(FULL)/bin/python benchmarks/run.py faults

sanitize: $(FULL)/.ready ## C++ tests under ThreadSanitizer; they and the extension under AddressSanitizer and UBSan
	@$(call native_tests,build/thread,thread)
	$(call native_tests,build/address,address,$(WITH_EXTENSION))
	$(call sanitized_extension,build/address)

audit: ## ask whether an advisory is known of what constraints.txt names; ends with an error where none can be had
	@$(call new_environment,build/auditor)
	build/auditor/bin/pip install --quiet --disable-pip-version-check $(AUDITOR)
	build/auditor/bin/python .ci/audit.py build/auditor/bin/pip-audit

fuzz: $(FULL)/.ready ## fuzz the frame parser with clang's libFuzzer (SECONDS=n); `make test` replays its corpus anywhere
	@compiler=$$($(find_fuzzing_compiler))
	if [ -z "$$compiler" ]; then
	  echo "make fuzz needs a clang++ with libFuzzer (Debian: apt-get install clang libclang-rt-dev)," >&2
	  echo "or name one with CLANG=/path/to/clang++; make test replays the corpus with any compiler." >&2
	  exit 1
	fi
	PATH="$(CURDIR)/$(FULL)/bin:$$PATH" cmake -S . -B build/fuzz -G Ninja --log-level=WARNING -DPOOLPILOT_FUZZ=ON \
	    -DCMAKE_CXX_COMPILER="$$compiler"
	$(FULL)/bin/cmake --build build/fuzz --target frame_fuzzer
	mkdir -p build/fuzz/found
	build/fuzz/native_pool/frame_fuzzer -max_total_time=$(or $(SECONDS),60) -max_len=4200 -use_value_profile=1 \
	    -artifact_prefix=build/fuzz/ build/fuzz/found native_pool/fuzz/corpus
	echo "== what adds to the corpus: build/fuzz/native_pool/frame_fuzzer -merge=1 native_pool/fuzz/corpus build/fuzz/found"

format: $(FULL)/.ready ## rewrite the sources in the house format
	@$(FULL)/bin/ruff check --fix --quiet . || true
	$(FULL)/bin/ruff format .
	$(FULL)/bin/clang-format -i $(CPP)

clean: ## remove environments, builds and caches
	@rm -rf .venv build demo-out .mypy_cache .pytest_cache .ruff_cache .hypothesis

WITH_EXTENSION = -DPOOLPILOT_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(FULL)/bin/python \
    -Dpybind11_DIR=$$($(FULL)/bin/python -m pybind11 --cmakedir)

# The sanitizer's library must be the first that the interpreter loads, and the leaks of the interpreter are its own. One
# thousand connections are left out: under so slow a build their latches time out.
define sanitized_extension
echo "== the extension of $(1) in Python"
ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
    $(FULL)/bin/python tests/with_extension.py $(1)/native_pool/_core.*.so -k 'not 1024' \
    tests/native_pool/test_live_pool.py tests/env/servers/test_native.py
endef

# Recent kernels randomise addresses more than ThreadSanitizer's map bears: switched off where that is permitted.
define native_tests
echo "== C++ tests in $(1)"
PATH="$(CURDIR)/$(FULL)/bin:$$PATH" cmake -S . -B $(1) -G Ninja --log-level=WARNING -DPOOLPILOT_TESTS=ON \
    -DPOOLPILOT_UNITY=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPOOLPILOT_SANITIZE=$(2) $(3)
plain=; if setarch -R true 2>/dev/null; then plain='setarch -R'; fi
$$plain $(FULL)/bin/cmake --build $(1) --parallel $$(nproc)
$$plain $(FULL)/bin/ctest --test-dir $(1) --parallel $$(nproc) --output-on-failure --no-tests=error
endef

# Prints the first clang++ that links libFuzzer, or nothing: some installations lack its library.
define find_fuzzing_compiler
entry='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
for candidate in $(or $(CLANG),clang++ $(addprefix clang++-,21 20 19 18 17 16 15 14)); do
  if "$$candidate" -fsanitize=fuzzer,address -x c++ -o /dev/null - <<< "$$entry" 2>/dev/null; then
    echo "$$candidate"; break
  fi
done
endef

# What builds the wheel stays in place, so that of C++ only what has changed is compiled again.
$(BUILDER)/.ready: $(PROJECT) | system-base
	@$(call new_environment,$(BUILDER))
	$(BUILDER)/bin/$(PIP_INSTALL) $(BUILD_TOOLS)
	touch $@

# The wheel is built once: the base environment and the tests install the same one.
$(WHEEL)/.ready: $(BUILDER)/.ready $(NATIVE) $(PACKAGED) docs/man/poolpilot.1
	@echo "== building the wheel (a minute or two the first time)"
	rm -f $(WHEEL)/*.whl
	PATH="$(CURDIR)/$(BUILDER)/bin:$$PATH" $(BUILDER)/bin/pip wheel --quiet --disable-pip-version-check --no-deps \
	    --no-build-isolation --wheel-dir $(WHEEL) .
	touch $@

# What a production host gets. pip takes a wheel of the version that it has for the one that it has.
$(BASE)/.ready: $(WHEEL)/.ready
	@$(call new_environment,$(BASE))
	echo "== installing poolpilot into $(BASE)"
	$(BASE)/bin/$(PIP_INSTALL) $(WHEEL)/*.whl
	$(BASE)/bin/$(PIP_INSTALL) --no-deps --force-reinstall $(WHEEL)/*.whl
	touch $@

# The wheel beside what the full environment holds, which is found through a path: a .pth file there, such as that of the
# editable installation, is not read.
$(INSTALLED)/.ready: $(WHEEL)/.ready $(FULL)/.ready
	@$(FULL)/bin/python -m venv --clear --without-pip $(INSTALLED)
	$(FULL)/bin/pip --python $(INSTALLED)/bin/python install --quiet --disable-pip-version-check --no-deps $(WHEEL)/*.whl
	purelib='import sysconfig; print(sysconfig.get_path("purelib"))'
	$(FULL)/bin/python -c "$$purelib" > "$$($(INSTALLED)/bin/python -c "$$purelib")/full.pth"
	touch $@

# Editable with the build tools inside, so that a changed C++ file is compiled alone and Python files not at all. The
# builder's pybind11, so that ccache knows what has been compiled for the wheel.
$(FULL)/.ready: $(PROJECT) $(NATIVE) $(BUILDER)/.ready | system-full
	@$(call new_environment,$(FULL))
	echo "== installing poolpilot[train,dev] into $(FULL) (several minutes the first time)"
	$(FULL)/bin/$(PIP_INSTALL) $(BUILD_TOOLS)
	pybind11=$$($(CURDIR)/$(BUILDER)/bin/python -m pybind11 --cmakedir)
	PATH="$(CURDIR)/$(FULL)/bin:$$PATH" $(FULL)/bin/$(PIP_INSTALL) --no-build-isolation \
	    --config-settings=cmake.define.pybind11_DIR="$$pybind11" --editable '.[train,dev]'
	touch $@

define new_environment
if [ ! -x $(1)/bin/pip ]; then "$$($(find_python))" -m venv --clear $(1); fi
endef

# Prints the first Python that is new enough, or nothing.
define find_python
for candidate in $(PYTHON) python3.11 python3 python3.12 python3.13; do
  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo "$$candidate"; break; fi
done
endef

# Lists the Debian packages without which a probe fails.
define missing_packages
python=$$($(find_python))
if [ -z "$$python" ]; then command -v python3 >/dev/null || echo python3 python3-venv python3-dev; else
  "$$python" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  "$$python" -c 'import os, sys, sysconfig as s; sys.exit(not os.path.exists(s.get_path("include") + "/Python.h"))' \
      || echo python3-dev
fi
command -v g++ >/dev/null || echo g++
$(if $(filter full,$(1)),test -e /usr/include/gtest/gtest.h || echo libgtest-dev
command -v ccache >/dev/null || echo ccache)
endef

.PHONY: system-base system-full
system-base system-full: system-%:
	@missing=$$($(call missing_packages,$*))
	if [ -n "$$missing" ]; then
	  line="apt-get install --yes --no-install-recommends $$(echo $$missing)"
	  if [ "$$(id -u)" != 0 ]; then
	    echo "Some system packages are missing. Run this as root, then make again:" >&2
	    echo "  apt-get update && $$line" >&2
	    exit 1
	  fi
	  echo "== $$line"
	  export DEBIAN_FRONTEND=noninteractive
	  $$line >/dev/null 2>&1 || { apt-get update && $$line; } >/dev/null
	fi
	if [ -z "$$($(find_python))" ]; then
	  echo "PoolPilot needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11 ..." >&2
	  exit 1
	fi

# MariaDB and sysbench for the test server; the core packages bring the programs and start no server. Without them all else
# works: the tests that need them are skipped and say so, and `poolpilot lab` names what is missing.
.PHONY: system-lab
system-lab:
	@missing=$$($(missing_lab_packages))
	if [ -n "$$missing" ]; then
	  line="apt-get install --yes --no-install-recommends $$(echo $$missing)"
	  if [ "$$(id -u)" = 0 ]; then
	    echo "== $$line"
	    export DEBIAN_FRONTEND=noninteractive
	    $$line >/dev/null 2>&1 || { apt-get update && $$line; } >/dev/null || true
	  fi
	  if [ -n "$$($(missing_lab_packages))" ]; then
	    echo "!! MariaDB or sysbench is missing: the tests that need them are SKIPPED. As root:" >&2
	    echo "!!   apt-get update && $$line" >&2
	  fi
	fi

# Chromium for the pictures of the live page; without it their tests are skipped and say so.
.PHONY: system-browser
system-browser:
	@[ -z "$${POOLPILOT_CHROMIUM:-}" ] && ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null || exit 0
	line="apt-get install --yes --no-install-recommends chromium"
	if [ "$$(id -u)" = 0 ]; then
	  echo "== $$line"
	  export DEBIAN_FRONTEND=noninteractive
	  $$line >/dev/null 2>&1 || { apt-get update && $$line; } >/dev/null || true
	fi
	command -v chromium >/dev/null || echo "!! Chromium is missing: the tests that need it are SKIPPED. As root: $$line" >&2

define missing_lab_packages
PATH="$$PATH:/usr/sbin"
command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null || echo mariadb-server-core
command -v my_print_defaults >/dev/null || echo mariadb-client-core
command -v sysbench >/dev/null || echo sysbench
endef
