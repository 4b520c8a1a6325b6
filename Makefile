# make run      install what is missing, build, and show a tour of the five operations
# make test     the same set-up, then every C++ and Python test
# make oracle   compare with the real TensorFlow and ONNX Runtime (make oracle-speed: also the speed inside them, on a quiet machine)
# make oracle-torch compare with the newest and the oldest PyTorch that is supported, where 15 GB of disk are free (make oracle-torch-speed: its speed)
# make oracle-jax compare with the newest and the oldest JAX that is supported, where CPython 3.12 is found (make oracle-jax-speed: its speed)
# make sanitize C++ and Python tests under the address and undefined-behaviour sanitizers, thread tests under the thread sanitizer
# make test-aarch64 cross-compile for 64-bit ARM and run the C++ tests under qemu, with NEON and with SVE
# make fuzz     every fuzzer for FUZZ_SECONDS (60) each; they need clang
# make bench    time backslice beside TensorFlow, PyTorch, JAX, ONNX Runtime and NumPy
# make bench-cpp time each kernel, in C++ alone
# make docs     build the manual into build/site and check every link in it
# make docs-test try the manual in a browser: search, links, console, desktop and phone width
# make docs-serve build the manual and serve it on http://localhost:DOCS_PORT (8000)
# make explorer build the slice explorer, one HTML file, into build/explorer; it needs emscripten
# make explorer-test try the explorer in a browser, with 10,000 random slices (make explorer-speed: how soon it answers, on a quiet machine)
# make test-large the tests that need 12 GB of disk
# make wheel   the source package and a wheel for this Python, tried in an empty environment, in dist/ (make wheels: for all that are found)
# make abi-check compare the C interface with its committed description in abi/ (make abi-update records additions)
# make test-cuda the tests that need a CUDA device (make sanitize-cuda: under compute-sanitizer; make fuzz-cuda: the fuzzers; make bench-cuda: its speed)
# make cuda-programs compile the fuzzers and failing programs that need a CUDA device, as CI does (make test compiles the rest)
# make cuda-bundle those tests, in Python too (with the wheels in dist/), fuzzers, benchmarks and their libraries as build/cuda-bundle.tar.gz, to run on another machine
# make lint     formatters, linters and type checks (make format mends what can be mended)

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PYTEST := $(PY) -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
SOURCES := $(shell find include src adapters python/backslice python/backslice_command python/bindings cmake -type f -not -name '*_test.cc' -not -name '*.pyc') \
           CMakeLists.txt python/CMakeLists.txt python/install.cmake pyproject.toml README.md
FUZZ_SECONDS ?= 60
CORES := $(shell nproc)
# Clones share what ccache has, wherever they are.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
DOCS_PORT ?= 8000

.DEFAULT_GOAL := help
.PHONY: help setup python run test test-cpp test-python test-large test-aarch64 explorer explorer-test explorer-speed docs docs-test docs-serve oracle oracle-speed oracle-jax oracle-jax-speed oracle-torch oracle-torch-speed sanitize fuzz bench bench-cpp bench-cuda test-cuda fuzz-cuda sanitize-cuda cuda-programs cuda-bundle abi-check abi-update wheel wheels lint format clean

help:
	@sed -n 's/^# \(make \)/\1/p' Makefile

setup:
	@tools/setup.sh $(PYTHON)

$(VENV)/.requirements: pyproject.toml | setup
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q --upgrade pip
	$(PY) -c "import tomllib" 2>/dev/null || $(PY) -m pip install -q tomli
	$(PY) -m pip install -q $$($(PY) tools/requirements.py)
	@touch $@

# The build tree is kept, so that only what changed is compiled.
$(VENV)/.installed: $(VENV)/.requirements $(SOURCES)
	$(PY) -m pip install -q --no-build-isolation --no-deps --force-reinstall .
	@touch $@

python: setup $(VENV)/.installed

run: python
	@$(VENV)/bin/backslice demo

test: test-cpp test-python

test-cpp: setup
	cmake --preset dev
	cmake --build --preset dev
	ctest --preset dev --parallel $(CORES)

test-python: python
	$(PYTEST)

test-large: python
	BACKSLICE_LARGE_TESTS=1 $(PY) -m pytest python/tests -k "4_gb or 8_gb"

test-aarch64:
	@tools/setup.sh $(PYTHON) aarch64
	tools/fetch_aarch64_libraries.sh build/aarch64-libraries
	cmake --preset aarch64
	cmake --build --preset aarch64
	tools/test_aarch64.sh build/aarch64

$(VENV)/.docs-requirements: pyproject.toml $(VENV)/.requirements
	$(PY) -m pip install -q $$($(PY) tools/requirements.py docs)
	@touch $@

explorer: setup
	@tools/setup.sh $(PYTHON) explorer
	$(PYTHON) explorer/build.py

explorer-test: explorer python
	@tools/setup.sh $(PYTHON) docs-test
	$(PY) -m pip install -q $$($(PY) tools/requirements.py docs-test)
	$(PY) -m pytest tests/explorer

explorer-speed: explorer python
	@tools/setup.sh $(PYTHON) docs-test
	$(PY) -m pip install -q $$($(PY) tools/requirements.py docs-test)
	BACKSLICE_SPEED_TESTS=1 $(PY) -m pytest tests/explorer/test_speed.py -s

docs: explorer python $(VENV)/.docs-requirements
	@tools/setup.sh $(PYTHON) docs
	@mkdir -p build/doxygen
	doxygen docs/Doxyfile
	$(PY) -m sphinx -b html -q -W --keep-going -d build/doctrees docs build/site
	$(PY) -m pytest tests/manual/test_site.py tests/manual/test_doxygen_filter.py
	@echo "the manual is in build/site/index.html"

docs-test: docs
	@tools/setup.sh $(PYTHON) docs-test
	$(PY) -m pip install -q $$($(PY) tools/requirements.py docs-test)
	$(PY) -m pytest tests/manual
	@echo "screenshots are in build/screenshots"

docs-serve: docs
	$(PY) -m http.server --bind 127.0.0.1 --directory build/site $(DOCS_PORT)

oracle: python
	$(PY) -m backslice.bench.venvs jax tensorflow onnxruntime onnxruntime-oldest onnxruntime-training
	$(PY) -m pip install -q awkward pyarrow
	$(PY) -m pytest tests/oracle --ignore=tests/oracle/test_in_torch.py

# The package for the newest JAX's Python has handlers compiled against the oldest headers, as a wheel has.
oracle-jax: python
	$(PY) -m backslice.bench.venvs jax jax-newest
	newest=$$($(PY) -c "from backslice.bench.venvs import find; print(find('jax-newest'))") && \
	headers=$$($(PY) adapters/jax/find_headers.py) && \
	$$newest -m pip install -q --no-build-isolation --no-deps --upgrade --target build/for-newest-jax \
	  -C cmake.define.BACKSLICE_JAXLIB_INCLUDE=$$headers . && \
	BACKSLICE_FOR_NEWEST_JAX=$(CURDIR)/build/for-newest-jax $(PY) -m pytest tests/oracle/test_in_jax.py -rs

oracle-jax-speed: python
	$(PY) -m backslice.bench.venvs jax
	BACKSLICE_SPEED_TESTS=1 $(PY) -m pytest tests/oracle/test_in_jax.py -s -k is_fast

oracle-torch: python
	$(PY) -m backslice.bench.venvs torch torch-oldest
	$(PY) -m pytest tests/oracle/test_in_torch.py -rs

oracle-torch-speed: python
	$(PY) -m backslice.bench.venvs torch
	BACKSLICE_SPEED_TESTS=1 $(PY) -m pytest tests/oracle/test_in_torch.py -s -k is_fast

oracle-speed: python
	$(PY) -m backslice.bench.venvs tensorflow onnxruntime-training
	BACKSLICE_SPEED_TESTS=1 $(PY) -m pytest tests/oracle -s -k is_fast

sanitize: $(VENV)/.requirements
	@for preset in asan tsan; do \
	  echo "== $$preset"; \
	  cmake --preset $$preset && cmake --build --preset $$preset && ctest --preset $$preset --parallel $(CORES) || exit 1; \
	done
	tools/sanitize_python.sh build/asan $(PY)

fuzz: python
	@tools/setup.sh $(PYTHON) fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	$(PYTHON) fuzz/run.py --seconds $(FUZZ_SECONDS)
	$(PY) fuzz/files.py --seconds $(FUZZ_SECONDS)
	BACKSLICE_STATE_SECONDS=$(FUZZ_SECONDS) $(PY) -m pytest python/tests/test_containers_state_machine.py

bench: python
	$(PY) -m backslice.bench.venvs tensorflow onnxruntime onnxruntime-training jax torch
	$(VENV)/bin/backslice bench -o build/bench --force

bench-cpp: setup
	cmake --preset release -D BACKSLICE_BUILD_BENCHMARKS=ON
	cmake --build --preset release
	build/release/bench/backslice_bench --benchmark_counters_tabular=true

# What make test leaves out, since it needs clang's headers or can run on a device alone: so that it keeps compiling.
cuda-programs: setup
	@tools/setup.sh $(PYTHON) fuzz
	cmake --preset dev -D BACKSLICE_BUILD_CUDA_FUZZERS=ON
	cmake --build --preset dev --target cuda_fuzzers cuda_no_kernel

cuda-bundle: setup
	@tools/setup.sh $(PYTHON) fuzz
	cmake --preset cuda
	cmake --build --preset cuda
	tools/cuda_bundle.sh build/cuda

build/cuda-bundle/run.sh: cuda-bundle
	tar -C build -xzf build/cuda-bundle.tar.gz

test-cuda: build/cuda-bundle/run.sh
	build/cuda-bundle/run.sh tests

fuzz-cuda: build/cuda-bundle/run.sh
	build/cuda-bundle/run.sh fuzz $(FUZZ_SECONDS)

sanitize-cuda: build/cuda-bundle/run.sh
	build/cuda-bundle/run.sh sanitize

bench-cuda: build/cuda-bundle/run.sh
	build/cuda-bundle/run.sh bench
	build/cuda-bundle/run.sh bench-containers

abi-check: setup
	cmake --preset dev
	cmake --build --preset dev --target backslice_shared
	tools/abi.py check --library build/dev/tests/c_abi/libbackslice.so

abi-update: setup
	tools/abi.py update

wheel: explorer
	$(PYTHON) tools/build_wheel.py $(if $(WHEEL_TESTS),--tests $(WHEEL_TESTS))

wheels: explorer
	$(PYTHON) tools/build_wheel.py --all

lint: python
	$(PY) -m pip install -q pre-commit
	$(VENV)/bin/pre-commit run --all-files

format: lint

clean:
	rm -rf build dist $(VENV)
