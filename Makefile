# Each target sets up what it needs: `make demo` and `make test` are all a newcomer runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt

# Benchmark files beside the checkout, where they are; tests that need them skip otherwise.
export PROTOLABEL_DATA ?= $(realpath ../shared/data)
# Parallel tests on more threads than cores are many times slower.
TEST_ENVIRONMENT := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
TEST_JOBS ?= 2

.PHONY: demo test lint format bench docs browser clean

demo: $(VENV)/.core
	$(BIN)/protolabel demo

test: $(VENV)/.dev browser
	$(TEST_ENVIRONMENT) $(BIN)/python -m pytest --numprocesses $(TEST_JOBS)

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Bounded in time; `make bench BENCH_OPTIONS=` takes more and larger runs.
BENCH_OPTIONS ?= --quick

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py $(BENCH_OPTIONS)

# A broken link, a missing reference or a failing example ends the build.
docs: $(VENV)/.docs
	rm -rf site
	$(TEST_ENVIRONMENT) $(BIN)/python -m sphinx --fail-on-warning --quiet --fresh-env \
	--doctree-dir build/doctrees docs site
	@echo "Open site/index.html"

clean:
	rm -rf site build/doctrees $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

# The tests of reports look at them in a browser, and skip where none can be had.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	|| apt-get install --yes --no-install-recommends chromium >/dev/null 2>&1 \
	|| echo "No browser found or installed: tests that need one are skipped."

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable .
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable ".[test,lint]"
	touch $@ $(VENV)/.core

$(VENV)/.docs: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable ".[docs]"
	touch $@ $(VENV)/.core
