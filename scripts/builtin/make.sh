#!/usr/bin/env bash
# Make the built-in model again, in three goes over three stretches of text: copying and forms; more of the mixture until
# copying is sure; at last the mistakes that everybody makes. About half an hour on 2 cores.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:?usage: scripts/builtin/make.sh FOLDER}
make_model=(.venv/bin/python -m scripts.builtin.model)
"${make_model[@]}" --output "$folder/1" --seed 0 --steps 4500
"${make_model[@]}" --output "$folder/2" --start "$folder/1" --seed 1 --steps 2400 --plain-first 0
"${make_model[@]}" --output "$folder/3" --start "$folder/2" --seed 2 --steps 750 --plain-first 0 --habits 0.6
echo "The model is in $folder/3; the package has it in selftrain/builtin_model/tiny."
