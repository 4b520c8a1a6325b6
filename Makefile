# make run      install what is missing, build the library and the Python package, and show a tour of the five operations (CUDA=1: with CUDA)
# make test     the same set-up, then the C++ tests and the Python tests of the package
# make test-repository the tests of everything around the code: ways to use the library, documentation, types, examples, benchmark
# make adapters the libraries that backslice.tensorflow, .jax and .onnxruntime load, for .venv
# make oracle   compare the wheel with the real TensorFlow, JAX and ONNX Runtime (make oracle-speed: also the speed inside them, on a quiet machine; make oracle-newest: `backslice verify` in newer releases)
# make oracle-torch compare the wheel with the newest and the oldest PyTorch that is supported, where 15 GB of disk are free (make oracle-torch-speed: its speed)
# make oracle-jax compare with the newest and the oldest JAX that is supported, where CPython 3.12 is found (make oracle-jax-speed: its speed; make oracle-jax-suites JAX=CHECKOUT: JAX's own tests, of the oldest version)
# make sanitize C++ and Python tests under the address and undefined-behaviour sanitizers, thread tests under the thread sanitizer
# make stress   every operation with hostile executors, allocators and cancellation from many threads, under both, for STRESS_SECONDS (300) each
# make test-aarch64 cross-compile for 64-bit ARM and run the C++ tests under qemu, with NEON and with SVE
# make stress-python the same in Python, with a wheel for STRESS_PYTHON (3.14t, which has no GIL)
# make fuzz     every fuzzer for FUZZ_SECONDS (60) each; they need clang
# make bench    time backslice beside TensorFlow, PyTorch, JAX, ONNX Runtime and NumPy
# make bench-cpp time each kernel, in C++ alone
# make docs     build the manual into build/site and check every link in it
# make docs-test try the manual in a browser: search, links, console, desktop and phone width
# make docs-serve build the manual and serve it on http://localhost:DOCS_PORT (8000)
# make explorer build the slice explorer, one HTML file, into build/explorer; it needs emscripten
# make explorer-test try the explorer in a browser, with 10,000 random slices (make explorer-speed: how soon it answers, on a quiet machine)
# make test-large the tests that need 12 GB of disk
# make packaging-test the Conan recipe with Conan itself, and the Debian package with lintian
# make wheel-twice two builds of the last commit's wheel, the second without the compiler cache, which must be equal byte by byte
# make wheel   the source package and a wheel for this Python in dist/ (make wheel-test: also tried in an empty environment; make wheels: for all Pythons that are found)
# make abi-check compare the C interface with its committed description in abi/ (make abi-update records additions)
# make test-cuda the tests that need a CUDA device (make sanitize-cuda: under compute-sanitizer; make fuzz-cuda: the fuzzers; make bench-cuda: its speed)
# make cuda-programs compile the fuzzers and failing programs that need a CUDA device (make test CUDA=1 compiles the rest)
# make cuda-bundle those tests, in Python too (with the wheels in dist/), fuzzers, benchmarks and their libraries as build/cuda-bundle.tar.gz, to run on another machine
# make lint     formatters, linters and type checks (make format also corrects what can be corrected)

PYTHON ?= python3
CUDA ?= 0
VENV := .venv
PY := $(VENV)/bin/python
STAGE := tools/stage.sh
WHEEL_VENV := build/wheel-venv
WHEEL_PY := $(WHEEL_VENV)/bin/python
CORES := $(shell nproc)
PYTEST := -m pytest --numprocesses $(CORES) --dist worksteal
PACKAGE := $(shell find python/backslice python/backslice_command -type f -not -name '*.pyc')
SOURCES := $(shell find include src adapters python/bindings cmake -type f -not -name '*_test.cc') $(PACKAGE) \
           CMakeLists.txt python/CMakeLists.txt python/install.cmake pyproject.toml README.md
FUZZ_SECONDS ?= 60
# ccache finds the same entries from every clone, wherever it is.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export NINJA_STATUS := [%f/%t, %e s] 
DOCS_PORT ?= 8000
CONFIGURE := cmake --preset dev --log-level=WARNING -D BACKSLICE_CUDA=$(if $(filter 1,$(CUDA)),ON,OFF)
SITE_PACKAGES = $$($(PY) -c "import sysconfig; print(sysconfig.get_path('platlib'))")

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup package run test test-programs test-cpp test-python test-repository adapters test-large test-aarch64 explorer explorer-test explorer-speed docs docs-test docs-serve oracle oracle-newest oracle-speed oracle-jax oracle-jax-speed oracle-jax-suites oracle-torch oracle-torch-speed sanitize stress stress-python fuzz bench bench-cpp bench-cuda test-cuda fuzz-cuda sanitize-cuda cuda-programs cuda-bundle abi-check abi-update wheel wheel-test wheel-twice wheels packaging-test lint format clean

help:
	@sed -n 's/^# \(make \)/\1/p' Makefile

setup:
	@tools/setup.sh $(PYTHON)

# The packages for building and running the package.
$(VENV)/.requirements: pyproject.toml tools/requirements.py | setup
	@$(STAGE) "Python environment" $(PYTHON) -m venv $(VENV)
	@$(PY) -c "import tomllib" 2>/dev/null || $(PY) -m pip install -q tomli
	@$(STAGE) "Python packages" $(PY) -m pip install -q $$($(PY) tools/requirements.py)
	@touch $@

# The packages for its tests.
$(VENV)/.test-requirements: $(VENV)/.requirements
	@$(STAGE) "Python packages for tests" $(PY) -m pip install -q $$($(PY) tools/requirements.py dev)
	@touch $@

# The package's Python files. CMake adds the compiled ones, so that nothing is compiled twice.
$(VENV)/.package: $(VENV)/.requirements $(PACKAGE) pyproject.toml README.md
	@$(PY) -m pip install -q --no-build-isolation --no-deps --force-reinstall -C wheel.cmake=false .
	@touch $@

package: setup $(VENV)/.package
	@$(STAGE) "configuration" $(CONFIGURE)
	@$(STAGE) "library and extension module" cmake --build build/dev --target _core
	@cmake --install build/dev --component python --prefix "$(SITE_PACKAGES)" > build/dev/install.log

run: package
	@$(VENV)/bin/backslice demo

# A configuration made before jaxlib was installed does not look for its headers again.
adapters: $(VENV)/.test-requirements package
	@$(STAGE) "adapters" cmake --build build/dev --target adapters
	@cmake --install build/dev --component adapters --prefix "$(SITE_PACKAGES)"

# Compiling and downloading run first, then both kinds of tests, each pair in parallel.
test: package
	@$(MAKE) --no-print-directory -j2 -o package test-programs $(VENV)/.test-requirements
	@$(MAKE) --no-print-directory -j2 -o package -o test-programs test-cpp test-python

test-programs: package
	@$(STAGE) "C++ test programs" cmake --build build/dev

test-cpp: test-programs
	@$(STAGE) "C++ tests" ctest --preset dev --parallel $(CORES)

test-python: package $(VENV)/.test-requirements
	@BACKSLICE_SHORT_CALLS=$${BACKSLICE_SHORT_CALLS:-100000} $(STAGE) "Python tests" $(PY) $(PYTEST)

test-large: package $(VENV)/.test-requirements
	BACKSLICE_LARGE_TESTS=1 $(PY) -m pytest python/tests -k "4_gb or 8_gb"

test-aarch64:
	@tools/setup.sh $(PYTHON) aarch64
	tools/fetch_aarch64_libraries.sh build/aarch64-libraries
	cmake --preset aarch64
	cmake --build --preset aarch64
	tools/test_aarch64.sh build/aarch64

$(VENV)/.docs-requirements: pyproject.toml $(VENV)/.test-requirements
	$(PY) -m pip install -q $$($(PY) tools/requirements.py docs)
	@touch $@

explorer: setup
	@tools/setup.sh $(PYTHON) explorer
	$(PYTHON) explorer/build.py

explorer-test: explorer package $(VENV)/.test-requirements
	@tools/setup.sh $(PYTHON) docs-test
	$(PY) -m pip install -q $$($(PY) tools/requirements.py docs-test)
	$(PY) -m pytest tests/explorer

explorer-speed: explorer package $(VENV)/.test-requirements
	@tools/setup.sh $(PYTHON) docs-test
	$(PY) -m pip install -q $$($(PY) tools/requirements.py docs-test)
	BACKSLICE_SPEED_TESTS=1 $(PY) -m pytest tests/explorer/test_speed.py -s

# The manual is built from the wheel, since the adapters' reference is read from their modules.
docs: explorer package $(WHEEL_VENV)/.installed $(VENV)/.docs-requirements
	@tools/setup.sh $(PYTHON) docs
	@mkdir -p build/doxygen
	@$(STAGE) "headers' reference" doxygen docs/Doxyfile
	@$(STAGE) "manual" $(WHEEL_PY) -m sphinx -b html -q -W --keep-going -d build/doctrees docs build/site
	@$(STAGE) "links of the manual" $(WHEEL_PY) -m pytest tests/manual/test_site.py tests/manual/test_doxygen_filter.py
	@echo "the manual is in build/site/index.html"

docs-test: docs
	@tools/setup.sh $(PYTHON) docs-test
	$(PY) -m pip install -q $$($(PY) tools/requirements.py docs-test)
	$(PY) -m pytest tests/manual
	@echo "screenshots are in build/screenshots"

docs-serve: docs
	$(PY) -m http.server --bind 127.0.0.1 --directory build/site $(DOCS_PORT)

# The wheel, and .venv's packages beside it. Tests that need a complete installation, above all of adapters, run here.
$(WHEEL_VENV)/.installed: dist/.wheel $(VENV)/.test-requirements
	@$(PYTHON) -m venv $(WHEEL_VENV)
	@echo "$(SITE_PACKAGES)" > "$$($(WHEEL_PY) -c "import sysconfig; print(sysconfig.get_path('platlib'))")/venv.pth"
	@$(WHEEL_PY) -m pip install -q --no-deps --force-reinstall dist/*.whl
	@touch $@

PEERS := jax tensorflow onnxruntime onnxruntime-oldest onnxruntime-training
oracle: $(WHEEL_VENV)/.installed
	@$(STAGE) "environments of TensorFlow, JAX, ONNX Runtime" $(WHEEL_PY) -m backslice.bench.venvs $(PEERS)
	@$(PY) -m pip install -q awkward pyarrow
	@$(STAGE) "wheel in Dask" $(WHEEL_PY) $(PYTEST) $(wildcard python/tests/test_dask*.py)
	@$(STAGE) "wheel in TensorFlow, JAX, ONNX Runtime" $(WHEEL_PY) -m pytest tests/oracle --ignore=tests/oracle/test_in_torch.py

# It does not fail where a newer release does: its rows in the table of stages say so.
oracle-newest: $(WHEEL_VENV)/.installed
	@$(WHEEL_PY) tests/oracle/newest.py

# The package for the newest JAX's Python has handlers compiled against the oldest headers, like a wheel.
oracle-jax: $(WHEEL_VENV)/.installed
	$(WHEEL_PY) -m backslice.bench.venvs jax jax-newest
	newest=$$($(WHEEL_PY) -c "from backslice.bench.venvs import find; print(find('jax-newest'))") && \
	headers=$$($(PY) adapters/jax/find_headers.py) && \
	$$newest -m pip install -q --no-build-isolation --no-deps --upgrade --target build/for-newest-jax \
	  -C cmake.define.BACKSLICE_JAXLIB_INCLUDE=$$headers . && \
	BACKSLICE_FOR_NEWEST_JAX=$(CURDIR)/build/for-newest-jax $(WHEEL_PY) -m pytest tests/oracle/test_in_jax.py -rs

oracle-jax-speed: $(WHEEL_VENV)/.installed
	$(WHEEL_PY) -m backslice.bench.venvs jax
	BACKSLICE_SPEED_TESTS=1 $(WHEEL_PY) -m pytest tests/oracle/test_in_jax.py -s -k is_fast

oracle-jax-suites: $(WHEEL_VENV)/.installed
	$(WHEEL_PY) -m backslice.bench.venvs jax
	$(WHEEL_PY) -m pip install -q absl-py
	BACKSLICE_JAX_CHECKOUT=$(abspath $(JAX)) $(WHEEL_PY) -m pytest tests/oracle/test_jax_suites.py -s

oracle-torch: $(WHEEL_VENV)/.installed
	@$(STAGE) "environments of PyTorch" $(WHEEL_PY) -m backslice.bench.venvs torch torch-oldest
	@$(STAGE) "wheel in PyTorch" $(WHEEL_PY) -m pytest tests/oracle/test_in_torch.py -rs

oracle-torch-speed: $(WHEEL_VENV)/.installed
	$(WHEEL_PY) -m backslice.bench.venvs torch
	BACKSLICE_SPEED_TESTS=1 $(WHEEL_PY) -m pytest tests/oracle/test_in_torch.py -s -k is_fast

oracle-speed: $(WHEEL_VENV)/.installed
	$(WHEEL_PY) -m backslice.bench.venvs tensorflow onnxruntime-training
	BACKSLICE_SPEED_TESTS=1 $(WHEEL_PY) -m pytest tests/oracle -s -k is_fast

test-repository: test-programs $(WHEEL_VENV)/.installed
	@tools/setup.sh $(PYTHON) repository
	@$(STAGE) "C++ benchmarks compile" sh -c '$(CONFIGURE) -D BACKSLICE_BUILD_BENCHMARKS=ON && cmake --build build/dev'
	@$(STAGE) "ways to use the library" ctest --preset repository
	@$(STAGE) "documentation, types, examples, benchmark" $(WHEEL_PY) $(PYTEST) tests/repository

sanitize: package $(VENV)/.test-requirements
	@for preset in tsan asan; do \
	  cmake --preset $$preset --log-level=WARNING && \
	  $(STAGE) "$$preset: compiling" cmake --build --preset $$preset && \
	  BACKSLICE_STRESS_SECONDS=10 $(STAGE) "$$preset: C++ tests" ctest --preset $$preset --parallel $(CORES) || exit 1; \
	done
	@$(STAGE) "asan: Python tests" tools/sanitize_python.sh build/asan $(PY)

STRESS_SECONDS ?= 300
stress: package
	@for preset in tsan asan; do \
	  cmake --preset $$preset --log-level=WARNING && \
	  $(STAGE) "$$preset: compiling" cmake --build build/$$preset --target backslice_stress_tests && \
	  BACKSLICE_STRESS_SECONDS=$(STRESS_SECONDS) $(STAGE) "$$preset: stress" build/$$preset/tests/backslice_stress_tests || exit 1; \
	done

STRESS_PYTHON ?= 3.14t
stress-python: explorer
	@BACKSLICE_STRESS_SECONDS=$(STRESS_SECONDS) $(STAGE) "stress in Python $(STRESS_PYTHON)" \
	  $(PYTHON) tools/build_wheel.py --for $(STRESS_PYTHON) --tests python/tests/test_thread_stress.py

fuzz: package $(VENV)/.test-requirements
	@tools/setup.sh $(PYTHON) fuzz
	@cmake --preset fuzz --log-level=WARNING
	@$(STAGE) "fuzzers: compiling" cmake --build --preset fuzz
	@$(STAGE) "fuzzers" $(PYTHON) fuzz/run.py --seconds $(FUZZ_SECONDS)
	@$(STAGE) "damaged files" $(PY) fuzz/files.py --seconds $(FUZZ_SECONDS)
	@BACKSLICE_STATE_SECONDS=$(FUZZ_SECONDS) $(STAGE) "state machine" $(PY) -m pytest python/tests/test_containers_state_machine.py

bench: $(WHEEL_VENV)/.installed
	$(WHEEL_PY) -m backslice.bench.venvs tensorflow onnxruntime onnxruntime-training jax torch
	$(WHEEL_VENV)/bin/backslice bench -o build/bench --force

bench-cpp: setup
	@tools/setup.sh $(PYTHON) repository
	cmake --preset release -D BACKSLICE_BUILD_BENCHMARKS=ON
	cmake --build --preset release
	build/release/bench/backslice_bench --benchmark_counters_tabular=true

# Programs that need clang's headers, or only run on a device, are compiled here so that they keep compiling.
cuda-programs: package
	@tools/setup.sh $(PYTHON) fuzz
	@cmake --preset dev --log-level=WARNING -D BACKSLICE_CUDA=ON -D BACKSLICE_BUILD_CUDA_FUZZERS=ON
	@$(STAGE) "CUDA programs: compiling" cmake --build build/dev --target cuda_fuzzers cuda_no_kernel

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

abi-check: package
	@tools/setup.sh $(PYTHON) repository
	@$(STAGE) "C interface" tools/abi.py check --library build/dev/libbackslice.so

abi-update: setup
	@tools/setup.sh $(PYTHON) repository
	tools/abi.py update

dist/.wheel: $(SOURCES) tools/build_wheel.py
	@$(MAKE) --no-print-directory explorer
	@$(STAGE) "wheel" $(PYTHON) tools/build_wheel.py
	@touch $@

wheel: dist/.wheel

wheel-test: dist/.wheel
	@$(STAGE) "wheel in an empty environment" $(PYTHON) tools/build_wheel.py --test dist/*.whl $(if $(WHEEL_TESTS),--tests $(WHEEL_TESTS))

wheels: explorer
	$(PYTHON) tools/build_wheel.py --all

wheel-twice:
	@$(STAGE) "wheel, twice" tools/wheel_twice.sh

packaging-test:
	@tools/setup.sh $(PYTHON) packaging
	@$(STAGE) "recipes" tools/test_packaging.sh $(PYTHON)

lint: package $(VENV)/.test-requirements
	$(PY) -m pip install -q pre-commit
	$(VENV)/bin/pre-commit run --all-files

format: lint

clean:
	rm -rf build dist $(VENV)
