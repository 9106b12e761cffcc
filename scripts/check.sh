#!/usr/bin/env bash
# Lint, format and types: the same for people and for CI.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
