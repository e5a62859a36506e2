# `make run` and `make test` do all their own set-up on a machine with Python 3.11+, pip and make.
PYTHON ?= python3
VENV   ?= .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN    := $(VENV)/$(SCRIPTS)
OUT    ?= results

.PHONY: run test test-all test-touched test-lowest lint sanitize paper trust bench watch docs dist clean
.DELETE_ON_ERROR:

# What the core in C is compiled from: installing compiles it, in seconds.
CORE := hatch_build.py $(wildcard src/seqattractor/engine/csrc/*.[ch])

# One stamp for each set of packages (run: none but the package's own), renewed when pyproject.toml or the core changes.
$(VENV)/installed-%: pyproject.toml $(CORE)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.$(if $(filter-out run,$*),[$*])'
	touch $(VENV)/installed-run $@

# The paper's tables and figures in a quick version; the last line says where the report is.
run: $(VENV)/installed-run
	$(BIN)/seqattractor reproduce --quick --out $(OUT)

# Two test processes on two cores: more BLAS threads would only fight for them.
test test-all test-touched test-lowest paper trust: export OPENBLAS_NUM_THREADS = 1

# A test that is stuck, where the longest takes a minute, says where and fails, and the others go on.
STUCK := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true

# Each process gets half of the files, so that what the tests of a file share is made once, and takes from the other's half when it is done
# (worksteal). Not --dist loadfile: with it, pytest-xdist waits for ever where a worker has died. ORDER=7 runs them in the random order of seed 7.
PYTEST := -m pytest -n 2 --dist worksteal $(STUCK) $(if $(ORDER),--order $(ORDER))

test: $(VENV)/installed-dev
	sh tests/install_browser.sh
	$(BIN)/python $(PYTEST) -m "not slow and not trust"

# Everything: `make test` and the statistical, slow, killing and attacking checks.
test-all: $(VENV)/installed-dev
	sh tests/install_browser.sh
	$(BIN)/python $(PYTEST)

# The slow ones of the folders that the last commit has touched.
test-touched: $(VENV)/installed-dev
	sh tests/install_browser.sh
	$(BIN)/python tests/touched.py -n 2 --dist worksteal $(STUCK)

# The same, without a browser, with the lowest version of each direct dependency that pyproject.toml allows, in a venv of its own.
LOWEST := $(VENV)-lowest

$(LOWEST)/installed: pyproject.toml tests/lowest_versions.py $(CORE)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/$(SCRIPTS)/python tests/lowest_versions.py > $(LOWEST)/constraints.txt
	$(LOWEST)/$(SCRIPTS)/python -m pip install --quiet -c $(LOWEST)/constraints.txt -e '.[dev]'
	touch $@

test-lowest: $(LOWEST)/installed
	$(LOWEST)/$(SCRIPTS)/python $(PYTEST) -m "not slow and not trust and not browser"

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python hatch_build.py --check

# The fast tests of all engines once with a core that checks itself (AddressSanitizer and UndefinedBehaviorSanitizer; gcc on Linux).
SANITIZED := tests/engine tests/networks/test_sparse.py
sanitize: $(VENV)/installed-dev
	$(BIN)/python tests/core_selftest.py sanitize
	$(BIN)/python tests/sanitized.py -n 2 $(STUCK) $(SANITIZED)

# Statistical and slow checks.
paper: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal $(if $(ORDER),--order $(ORDER)) -m slow

# Attacks and accidents by the thousand: damaged files, hostile calls and requests, kills; writes the table of docs/trust.rst.
trust: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m trust tests/trust
	$(BIN)/python tests/trust/table.py

# Speed beside the plain PyTorch loop, and that beside the last results; writes the tables of README and docs.
bench: $(VENV)/installed-bench
	$(BIN)/python benchmarks/bench.py --growth --memory digits --memory large \
	    --baseline benchmarks/results.json -o benchmarks/results.json
	$(BIN)/python benchmarks/report.py

# The last commit beside BASE, by asv, which builds both: shares of the plain ways' time, and which have grown by more than a third.
BASE ?= main
watch: $(VENV)/installed-watch
	$(BIN)/asv machine --yes
	$(BIN)/asv run --show-stderr --skip-existing '$(BASE)^!'
	$(BIN)/asv run --show-stderr 'HEAD^!'
	$(BIN)/asv compare --factor 1.33 $(BASE) HEAD

docs: $(VENV)/installed-dev
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# The sdist, and from it the wheels of all platforms and the core for WebAssembly, compiled by zig; all checked. The kernels are run on x86, ARM and
# WebAssembly, as far as this machine can (tests/core_selftest.py), the wheel for this platform is tried in a new environment outside the
# repository. Uploads nothing. The last lines say what a person has to fill in before a release (RELEASING.md).
dist: $(VENV)/installed-release
	rm -rf dist
	$(BIN)/python -m build --sdist
	$(BIN)/python release/wheels.py dist
	$(BIN)/python -m twine check --strict dist/*.tar.gz dist/*.whl
	$(BIN)/python tests/core_selftest.py
	$(BIN)/python release/try_wheel.py dist
	$(BIN)/python release/ready.py

clean:
	rm -rf $(VENV) $(LOWEST) build dist docs/_build docs/gallery docs/generated docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache
