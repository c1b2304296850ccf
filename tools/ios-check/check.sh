#!/usr/bin/env bash
# Checks the iOS half without a Mac: compiles it against derived headers, links it, compares it with its promises, and
# runs the parts on Linux that can run there. Ends with one line that adds up all results. Arguments name single gates.
set -euo pipefail
cd "$(dirname "$0")"
bash set-up.sh build/truth
PYTHONDONTWRITEBYTECODE=1 exec python3 check.py "$@"
