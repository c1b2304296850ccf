#!/usr/bin/env bash
# Checks the iOS half without a Mac: compiles it against derived headers, links it, checks the guarantees of the SDK,
# and runs on Linux the parts that can run there. Ends with one line of counts. Arguments name single gates.
set -euo pipefail
cd "$(dirname "$0")"
bash set-up.sh build/truth
PYTHONDONTWRITEBYTECODE=1 exec python3 check.py "$@"
