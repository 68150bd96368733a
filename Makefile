# Everything runs in .venv, which the first command creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo check test lint types format docs bench fuzz kill pictures clean

demo: $(VENV)/.installed
	$(BIN)/eocc demo

check: lint types
	$(BIN)/pytest -n auto --dist worksteal -q tests/test_house.py tests/test_constants.py tests/test_classifier.py \
		tests/test_surprise.py tests/test_surprise_classifier.py tests/test_known_outliers.py tests/test_synthesis.py
	$(BIN)/python benchmarks/sizes.py

test: $(VENV)/.installed-dev
	$(BIN)/pytest -n auto --dist worksteal

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
	$(BIN)/python benchmarks/fuzz_model_file.py
	$(BIN)/python benchmarks/fuzz_files.py

kill: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/kill.py

# Every picture of README.md and docs/, drawn anew; needs chromium, chromedriver and the data of the graphs.
pictures: $(VENV)/.installed-dev
	$(BIN)/python examples/front_page.py docs/images/front_page.png
	$(BIN)/python examples/pictures.py docs/images
	$(BIN)/python examples/choices.py docs/images
	$(BIN)/python examples/report.py docs/images
	$(BIN)/python benchmarks/searches.py
	$(BIN)/python benchmarks/examined.py --folds 10 --images docs/images

clean:
	rm -rf $(VENV)

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
