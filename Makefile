# `make demo` and `make test` set everything up by themselves, into ./.venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: demo test check setup clean

demo: setup  ## three rounds of self-training on the built-in model
	$(BIN)/selftrain run configs/tiny.yaml

test: setup  ## the tests
	$(BIN)/python -m pytest

check: setup  ## lint, format, types
	scripts/check.sh

setup: $(INSTALLED)  ## the environment, and the judge's guest

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "selftrain needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "This Python cannot make virtual environments; on Debian or Ubuntu: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(BIN)/python -m judge.build
	@touch $@

clean:  ## remove the environment, never a run
	rm -rf .venv
