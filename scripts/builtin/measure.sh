#!/usr/bin/env bash
# Measure the built-in model once: Pass@1 to Pass@100, and again after one more pass over its own last text, which must not
# double it (else the loop's gain could be had by training longer on noise).
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:?usage: scripts/builtin/measure.sh FOLDER}
measure=(.venv/bin/selftrain evaluate --config configs/tiny.yaml)
"${measure[@]}" builtin:tiny evaluate.num_samples=100 'evaluate.k=[1,10,100]'
.venv/bin/python -m scripts.builtin.model --output "$folder" --start selftrain/builtin_model/tiny \
  --seed 2 --steps 750 --plain-first 0 --habits 0.6 > "$folder.log"
"${measure[@]}" "$folder"
