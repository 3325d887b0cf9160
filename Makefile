# The same commands for people and CI. Everything lives in .venv; nothing else is touched.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.run-$(shell cksum requirements.lock pyproject.toml | cksum | cut -d' ' -f1)
DEV := $(VENV)/.dev-$(shell cksum requirements-dev.lock pyproject.toml | cksum | cut -d' ' -f1)
# Modules are compiled when they are first used: most of what is installed never is.
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q --require-hashes --no-deps --no-compile
SELF := $(BIN)/python -m pip --disable-pip-version-check install -q --no-deps --no-build-isolation -e .
WORKERS ?= 3
# Compiled once and kept: every command and every process of the tests starts in half the time.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test lint bench soak lock clean
.DEFAULT_GOAL := help

help: ## Say what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/'

demo: $(RUN) ## Set everything up and run the refund desk on the embedded store
	$(BIN)/gnomon demo $(ARGS)

test: lint ## Set everything up and pass the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder -m "not soak" $(ARGS)

lint: $(DEV) ## Style, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(DEV) ## Print speed as ratios measured in one run
	$(BIN)/python -m tests.bench $(ARGS)

soak: $(DEV) ## The slow proofs: a hundred kills, a hundred thousand hostile requests
	$(BIN)/python -m pytest -m soak -s $(ARGS)
	$(BIN)/python -m tests.bench.fuzz_receiver --requests 100000

lock: $(DEV) ## Renew both lock files; the newest releases wait a week
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%dT00:00:00Z)" \
	  pyproject.toml --group build -o requirements.lock
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	  --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%dT00:00:00Z)" \
	  pyproject.toml --group build --extra dev -o requirements-dev.lock

clean: ## Remove the virtual environment and caches, never data
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is not here; say PYTHON=python3.12 or install it" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(RUN): | $(BIN)/python
	@echo "installing what Gnomon needs (about a minute, once)"
	$(PIP) -r requirements.lock
	$(SELF)
	@touch $@

$(DEV): | $(BIN)/python
	@echo "installing what the tests need (about a minute, once)"
	$(PIP) -r requirements-dev.lock
	$(SELF)
	@touch $@ $(RUN)
