"""
The compiler rejects each wrong snippet of tests/compile/cases.txt, and accepts the right ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kit import CLANG, IOS, KIT, WARNINGS, Case, in_parallel, ios_flags, precompiled, run

CASE = re.compile(r"^== (?P<name>[^\n]*?)(?: -> (?P<error>[^\n]*))?\n(?P<body>(?:(?!== )[^\n]*\n)*)", re.M)


@dataclass(frozen=True)
class Snippet:
    name: str
    error: str | None
    body: str


def check() -> list[Case]:
    text = (KIT / "tests/compile/cases.txt").read_text(encoding="utf8")
    precompiled()
    return in_parallel(compile_snippet, [Snippet(m["name"], m["error"], m["body"]) for m in CASE.finditer(text)])


def compile_snippet(snippet: Snippet) -> Case:
    is_unit = "@implementation" in snippet.body
    code = f"{snippet.body}" if is_unit else f"void snippet(void);\nvoid snippet(void) {{\n{snippet.body}}}\n"
    done = run([CLANG, *ios_flags(), *precompiled(), *WARNINGS, "-I", IOS, "-fsyntax-only", "-"], input=code)
    if snippet.error is None:
        return Case(snippet.name, done.stderr if done.returncode else None)
    if done.returncode == 0:
        return Case(snippet.name, "it compiles")
    rejected = re.search(snippet.error, done.stderr)
    return Case(snippet.name, None if rejected else f"rejected for another reason:\n{done.stderr}")
