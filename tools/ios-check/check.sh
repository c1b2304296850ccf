#!/usr/bin/env bash
# Checks the iOS half without a Mac: compiles it against derived headers, links it, holds it against what it promises,
# and runs on Linux what can run there. Ends with one line that adds everything up. Arguments name single gates.
set -euo pipefail
cd "$(dirname "$0")"
bash set-up.sh build/truth
PYTHONDONTWRITEBYTECODE=1 exec python3 check.py "$@"
