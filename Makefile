# make app    install what is missing and open the dashboard          make test      lint, types, the fast tests and one journey in a browser
# make lint   ruff and ty alone                                       make test-all  every test, with browser and long ones
# make bench  measure speed into docs/benchmarks.md                   make demo      recompute data/demo from a real run
# make docs   docs/generated anew, and the site into build/site
#
# Options of the dashboard go through ARGS:  make app ARGS="--port 8600 --no-browser"
# Another interpreter:                       make app PYTHON=python3.12

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=
LOCK := pyproject.toml constraints.txt
comma := ,
empty :=
space := $(empty) $(empty)

# uv reads its own variable for folders of local packages; pip's setting should count for both.
ifneq ($(strip $(PIP_FIND_LINKS)),)
export UV_FIND_LINKS ?= $(subst $(space),$(comma),$(strip $(PIP_FIND_LINKS)))
endif

# $(call install,EXTRAS): everything of this project with EXTRAS into the virtual environment, by uv if there is one, else by pip.
define install
	@if ! command -v "$(PYTHON)" >/dev/null 2>&1; then \
	  echo "No $(PYTHON) was found. Install Python 3.11 or newer, or name one: make app PYTHON=/path/to/python3" >&2; exit 1; fi
	@if ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	  echo "$(PYTHON) is $$("$(PYTHON)" --version 2>&1), but 3.11 or newer is needed. Name one: make app PYTHON=python3.12" >&2; exit 1; fi
	@if [ ! -x $(PY) ]; then echo "Creating $(VENV)"; "$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "A virtual environment could not be made. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }; fi
	@if [ ! -d $(VENV)/lib/python3*/site-packages/torch ] && [ "$$(df -Pk . | awk 'NR==2 {print $$4}')" -lt 2500000 ]; then \
	  echo "The packages take about 2 GB, and less than 2.5 GB are free here. Make room first." >&2; exit 1; fi
	@if command -v uv >/dev/null 2>&1 && echo "Installing with uv" && \
	  uv pip install --quiet --python $(PY) -c constraints.txt -e ".[$(1)]"; then :; \
	else \
	  echo "Installing with pip (a minute or two the first time)"; \
	  $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$(1)]" || { \
	  echo "The packages could not be installed; the lines above say why. Nothing was started." >&2; exit 1; }; \
	fi
endef

.PHONY: app test test-all lint format bench demo docs clean

app: $(VENV)/.stamp-app
	@exec $(PY) run_app.py $(ARGS)

$(VENV)/.stamp-app: $(LOCK)
	$(call install,export)
	@touch $@

$(VENV)/.stamp-test: $(LOCK)
	$(call install,export$(comma)test)
	@touch $(VENV)/.stamp-app $@

$(VENV)/.stamp-docs: $(LOCK)
	$(call install,export$(comma)docs)
	@touch $(VENV)/.stamp-app $@

lint: $(VENV)/.stamp-test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m ty check

format: $(VENV)/.stamp-test
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# One thread a test process: torch's threads in several processes wait for each other busily.
test: lint
	OMP_NUM_THREADS=1 $(PY) -m pytest -m "not slow and (smoke or not browser)" -n auto --dist loadscope $(ARGS)

test-all: lint
	OMP_NUM_THREADS=1 $(PY) -m pytest -n auto --dist loadscope $(ARGS)

bench: $(VENV)/.stamp-app
	$(PY) -m mucore bench --write $(ARGS)
	$(PY) scripts/bench_pages.py --write

demo: $(VENV)/.stamp-app
	$(PY) scripts/make_demo.py --fresh $(ARGS)

docs: $(VENV)/.stamp-docs
	$(PY) scripts/make_docs.py
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build

clean:
	rm -rf .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -not -path "./$(VENV)/*" -prune -exec rm -rf {} +
