#!/usr/bin/env python3
"""
Runs the gates of the iOS half, and ends with one line of counts. `check.py NAME...` runs only the named gates, and
`analyze` only where it is named: the static analyzer takes a quarter of the time, and runs each night.
"""

from __future__ import annotations

import sys
import time

import kit
from gates import (
    boxed_booleans,
    compile,
    fakes,
    fields,
    forbidden,
    headers,
    link,
    linux,
    load_time,
    negative,
    podspec,
    privacy,
)

# The order matters, because later gates examine the output of earlier ones.
GATES = {
    "fields": fields.check,
    "headers": headers.check,
    "compile": compile.check,
    "link": link.check,
    "negative": negative.check,
    "booleans": boxed_booleans.check,
    "forbidden": forbidden.check,
    "load": load_time.check,
    "privacy": privacy.check,
    "podspec": podspec.check,
    "fakes": fakes.check,
    "linux": linux.check,
}
NIGHTLY = {"analyze": compile.analyze}


def main() -> int:
    passed, failed = 0, 0
    for name in sys.argv[1:] or GATES:
        start = time.monotonic()
        cases = (GATES | NIGHTLY)[name]()
        problems = [case for case in cases if case.problem is not None]
        passed += len(cases) - len(problems)
        failed += len(problems)
        print(f"{name}: {len(cases) - len(problems)} of {len(cases)} ({time.monotonic() - start:.0f} s)", flush=True)
        for case in problems:
            print(f"  FAILED {case.name}\n    " + str(case.problem).replace("\n", "\n    "), flush=True)
        if not cases:
            print(f"  FAILED {name} checked nothing")
            failed += 1
    print(f"ios: {passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    kit.BUILD.mkdir(parents=True, exist_ok=True)
    sys.exit(main())
