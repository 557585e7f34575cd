# make demo    a virtual environment, the package, the main job
# make test    the same and the tests, with a tenth of the cases of long sweeps
# make help    the other commands

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
SHARE ?= 10
BENCH_ARGS ?=
PEERS_ARGS ?=
MUTANTS_ARGS ?=
BASE ?= HEAD~1
BIN = $(VENV)/bin
INSTALLED = $(VENV)/.installed
DEMO = $(VENV)/.demo
TOOLS = $(VENV)/requirements.txt
CYTHON = $(wildcard tapeengine/_core/*/*.pyx)
SOURCES = pyproject.toml setup.py stubs.py $(foreach kind,py pyx pxd h,$(wildcard tapeengine/_core/*/*.$(kind)))

.PHONY: help install demo test test-all doctest check tsan wheel test-scipy test-lift lint format types stubtest mutants bench bench-agree bench-quick bench-compare bench-native peers page docs dist clean

help:
	@echo "make demo | test | test-all | doctest | check (tests on a build with all checks) | tsan (threads) | test-scipy | test-lift | lint | format | types | stubtest | mutants"
	@echo "make bench | bench-agree | bench-quick | bench-compare BASE=commit | bench-native | peers | page | docs | dist | clean"
	@echo "variables: PYTHON=$(PYTHON) VENV=$(VENV) PYTEST_ARGS='$(PYTEST_ARGS)' BENCH_ARGS='$(BENCH_ARGS)' PEERS_ARGS='$(PEERS_ARGS)'"

$(VENV)/pyvenv.cfg:
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "tapeengine needs Python 3.11 or later: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

GENERATED = $(addprefix tapeengine/_core/,tape/ops_table.h tape/ops_recorded.h tape/ops_names.pxi scalars/elementary.pxi scalars/elementary_complex.pxi) $(filter-out %/scalar.pyi,$(CYTHON:.pyx=.pyi))
BUILT_OF = $(filter-out $(GENERATED),$(SOURCES))

# The build's own requirements, once: a build in isolation would install them again for each build.
$(TOOLS): $(VENV)/pyvenv.cfg pyproject.toml
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' >$@
	PIP_NO_COMPILE=1 $(BIN)/python -m pip install --quiet --requirement $@ || { rm $@; exit 1; }

# Modules are compiled to bytecode when they are imported: the demo imports a small part of SciPy and scikit-learn.
$(DEMO): $(TOOLS) $(BUILT_OF)
	PIP_NO_COMPILE=1 $(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[demo]'
	touch $@

$(INSTALLED): $(TOOLS) $(BUILT_OF)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[dev,demo]'
	touch $@ $(DEMO)

install: $(INSTALLED)

demo: $(DEMO)
	$(BIN)/python examples/demo.py

test: $(INSTALLED) demo doctest
	$(BIN)/python -m pytest --share $(SHARE) $(PYTEST_ARGS)

# All cases of all tests, those of the SciPy plugin too.
test-all:
	$(MAKE) test test-scipy SHARE=1

doctest: $(INSTALLED)
	$(BIN)/python -m pytest --quiet --doctest-modules --doctest-ignore-import-errors --ignore=tapeengine/_core/tape/generate_ops.py tapeengine primitives/core

# The same tests on a core built with bounds, None and initialisation checks, installed in an environment of its own.
# `pytest` rather than `python -m pytest`: the installed core is tested, not the one in this folder.
check: $(INSTALLED)
	$(PYTHON) -m venv --clear build/check-venv
	TAPEENGINE_BUILD=check build/check-venv/bin/python -m pip install --quiet '.[test]'
	build/check-venv/bin/pytest $(PYTEST_ARGS)

# The threads' tests on a core that ThreadSanitizer watches. Python and numpy are not built for it: what they race for
# themselves, and what it sees of their locks, is suppressed; a race that the core takes part in is not.
# The reports go to files build/tsan-report.*, because pytest keeps what is written to stderr during a test.
TSAN_TESTS = tests/transforms/test_forking.py tests/transforms/test_random_forks.py tests/transforms/test_run_again.py \
	tests/transforms/test_interrupts.py
tsan: $(INSTALLED)
	$(PYTHON) -m venv --clear build/tsan-venv
	TAPEENGINE_BUILD=tsan build/tsan-venv/bin/python -m pip install --quiet '.[test]'
	LD_PRELOAD=$$($(or $(CC),gcc) -print-file-name=libtsan.so) OPENBLAS_NUM_THREADS=1 \
		TSAN_OPTIONS="suppressions=$(CURDIR)/tests/tsan.supp halt_on_error=0 exitcode=66 report_signal_unsafe=0 log_path=build/tsan-report" \
		build/tsan-venv/bin/pytest -p no:cacheprovider $(TSAN_TESTS) $(PYTEST_ARGS)

# A wheel by the tools of the development environment: compiled once, without a download, for the targets below.
wheel: $(INSTALLED)
	rm -rf build/wheel build/lib* # modules that are gone would stay in the wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel .

# The SciPy plugin as its users install it: two wheels in a fresh environment.
test-scipy: wheel
	$(PYTHON) -m venv --clear build/scipy-venv
	build/scipy-venv/bin/python -m pip install --quiet build/wheel/*.whl './primitives/scipy[test]'
	cd primitives/scipy && PYTHONPATH=../../tests ../../build/scipy-venv/bin/python -m pytest -p sweeps --share $(SHARE) $(PYTEST_ARGS)
	build/scipy-venv/bin/python -m pytest tests/docs -k "scipy or ode" $(PYTEST_ARGS)

# Code that was written without the engine, in an environment of its own with the SciPy plugin.
test-lift: wheel
	$(PYTHON) -m venv --clear build/lift-venv
	build/lift-venv/bin/python -m pip install --quiet "$$(echo build/wheel/*.whl)[lift]" ./primitives/scipy
	build/lift-venv/bin/pytest tests/lift $(PYTEST_ARGS)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(INSTALLED)
	mkdir -p build/typing
	ln -sfn ../../primitives/core build/typing/tapeengine_primitives
	$(BIN)/mypy

stubtest: types
	$(BIN)/stubtest --concise --mypy-config-file pyproject.toml --allowlist tests/stubtest_allowlist.txt $(subst /,.,$(CYTHON:.pyx=))

# Sampled mutations of the Python rooms against their tests; minutes to hours, by MUTANTS_ARGS='--each 30 --room spaces'.
mutants: $(INSTALLED)
	$(BIN)/python tests/mutants.py $(MUTANTS_ARGS)

bench: $(INSTALLED)
	$(BIN)/python asv_bench/bench.py $(BENCH_ARGS)

# Do the last two full runs agree within the noise that the page states?
bench-agree: $(INSTALLED)
	$(BIN)/python asv_bench/agree.py $(BENCH_ARGS)

bench-quick: $(INSTALLED)
	$(BIN)/python asv_bench/counts.py
	$(BIN)/python asv_bench/quick.py

bench-compare: $(INSTALLED)
	$(BIN)/python asv_bench/compare.py $(BASE) $(BENCH_ARGS)

# Native code beside the tools in the environment of the peers: JAX, numba.
bench-native: $(INSTALLED)
	$(BIN)/python asv_bench/native.py $(BENCH_ARGS)

peers: $(INSTALLED)
	$(BIN)/python asv_bench/peers/setup.py $(PEERS_ARGS)

page: $(INSTALLED)
	$(BIN)/python asv_bench/pictures.py
	$(BIN)/python asv_bench/page.py

dist: $(INSTALLED)
	$(BIN)/python -m build

# The site, in docs/_build: every warning is an error, a link that leads nowhere among them.
docs: $(INSTALLED)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -j 2 docs docs/_build/html

clean:
	rm -rf build dist docs/_build docs/reference/api *.egg-info tapeengine/_core/*/*.so $(GENERATED)
