# Everything runs in .venv, which the first command creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CORE := $(addprefix tests/,base/test_house.py base/test_constants.py classifiers surprise/test_surprise.py \
	surprise/test_surprise_classifier.py surprise/test_known_outliers.py entropic/test_synthesis.py)
QUICK := $(CORE) $(addprefix tests/,ellipsoids/test_region_classifier.py formats/test_model_file.py \
	tables/test_one_way_to_read.py formats/test_files_tables.py cli/test_cli.py)

.PHONY: demo check test test-all test-lowest test-newest lint types format docs bench fuzz kill pictures clean

demo: $(VENV)/.installed
	$(BIN)/eocc demo
	@echo "To use the command eocc in this shell: . $(VENV)/bin/activate"

check: lint types
	$(BIN)/pytest -n auto --dist worksteal -q $(CORE)
	$(BIN)/python benchmarks/sizes.py

test: $(VENV)/.installed-dev
	$(BIN)/pytest -n auto --dist worksteal

# All tests, and the share of branches that they reach, which is printed and not enforced.
test-all: $(VENV)/.installed-dev
	$(BIN)/pytest -n auto --dist worksteal --cov --cov-report term:skip-covered

# The quick tests with the lowest versions that pyproject.toml allows, and with the newest, in environments of their own.
# make test-newest MORE=--prerelease=allow takes pre-releases too; PYTHON=python3.13 chooses the interpreter.
test-lowest: RESOLUTION := lowest-direct
test-newest: RESOLUTION := highest
test-lowest test-newest: $(VENV)/.installed-dev
	$(PIP) uv
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(VENV)-$(RESOLUTION)
	$(BIN)/uv pip install --quiet --python $(VENV)-$(RESOLUTION)/bin/python --resolution $(RESOLUTION) $(MORE) -e '.[dev]'
	NUMBA_CACHE_DIR=$(VENV)-$(RESOLUTION)/numba $(VENV)-$(RESOLUTION)/bin/python -m pytest -n auto --dist worksteal -q \
		-W ignore::DeprecationWarning -W ignore::SyntaxWarning $(QUICK)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, built from scratch: build/site/VERSION, and a start page that leads to it.
docs: $(VENV)/.installed-docs
	rm -rf docs/auto_* docs/reference/generated
	PYTHON=$(BIN)/python docs/build

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/core.py --scaling
	$(BIN)/python benchmarks/validation.py
	$(BIN)/python benchmarks/surprise.py
	$(BIN)/python benchmarks/table.py

fuzz: $(VENV)/.installed-dev
	for attack in model_file files commands fits updates; do $(BIN)/python benchmarks/fuzz_$$attack.py || exit 1; done
	$(BIN)/python benchmarks/hostile_workbooks.py

kill: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/kill.py

# Every picture of README.md and docs/, drawn anew; needs chromium, chromedriver and the data of the graphs.
pictures: $(VENV)/.installed-dev
	$(BIN)/python examples/front_page.py docs/images/front_page.png
	$(BIN)/python examples/pictures.py docs/images
	$(BIN)/python examples/choices.py docs/images
	$(BIN)/python examples/report.py docs/images
	$(BIN)/python benchmarks/examined.py --folds 10 --images docs/images

clean:
	rm -rf $(VENV) $(VENV)-lowest-direct $(VENV)-highest

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "eocc needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": try make PYTHON=python3.11 ...")'
	@echo "Setting up $(VENV), once; this takes a minute ..."
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[$*]'
	@touch $@ $(VENV)/.installed
