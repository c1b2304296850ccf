"""Derives the headers that everything else is compiled against, and copies React Native's headers into one folder."""

from __future__ import annotations

import shutil
import sys

from kit import HEADERS, KIT, REACT, REACT_NATIVE, TRUTH, TYPES, Case, link_headers, problem_of, run

REACT_FOLDERS = {
    "RCTDeprecation": "ReactApple/Libraries/RCTFoundation/RCTDeprecation/Exported",
    "FBLazyVector": "Libraries/FBLazyVector/FBLazyVector",
    "RCTRequired": "Libraries/Required",
    "RCTTypeSafety": "Libraries/TypeSafety",
}


def check() -> list[Case]:
    return [Case("derived from two readings of the SDK", derive()), Case("React Native's own", lay_out())]


def derive() -> str | None:
    shutil.rmtree(HEADERS, ignore_errors=True)
    script = [sys.executable, KIT / "headers/derive.py"]
    return problem_of(run([*script, KIT / "used-api.json", TRUTH / "crates", TYPES, HEADERS]))


def lay_out() -> str | None:
    shutil.rmtree(REACT, ignore_errors=True)
    for folder in ("React", "Libraries"):
        link_headers(f"{REACT_NATIVE}/{folder}/**/*.h", REACT / "React")
    for name, folder in REACT_FOLDERS.items():
        link_headers(f"{REACT_NATIVE}/{folder}/*.h", REACT / name)
    found = (REACT / "React/RCTBridgeModule.h").exists()
    return None if found else "React Native's headers are not where they were"
