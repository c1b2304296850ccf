"""Checks that every source file compiles for iOS 15.1 without a warning, and that the static analyzer finds nothing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from kit import (
    BUILD,
    CLANG,
    IOS,
    OBJECTS,
    WARNINGS,
    Case,
    generated_source,
    in_parallel,
    ios_flags,
    object_of,
    precompiled,
    precompiled_core,
    precompiled_values,
    problem_of,
    run,
    sources,
)

CHECKERS = "core,cplusplus,deadcode,nullability,optin.osx,osx,security.insecureAPI,unix"
LANGUAGES = {".mm": "objective-c++", ".cpp": "c++"}


def flags(source: Path) -> list[str]:
    return ios_flags(LANGUAGES[source.suffix])


def check() -> list[Case]:
    shutil.rmtree(OBJECTS, ignore_errors=True)
    OBJECTS.mkdir(parents=True)
    precompiled_values()
    cases = in_parallel(compile_own, sources(".mm", ".cpp"))
    generated = generated_source()
    done = run([CLANG, *flags(generated), "-c", generated, "-o", object_of(generated)])
    cases.append(Case("generated spec", problem_of(done)))
    return [*cases, Case("no Objective-C without C++", objective_c())]


def compile_own(source: Path) -> Case:
    warnings = WARNINGS if source.suffix == ".mm" else [flag for flag in WARNINGS if "objc" not in flag]
    before = precompiled_values() if imports_values(source) else []
    done = run([CLANG, *flags(source), *before, *warnings, "-c", source, "-o", object_of(source)])
    return Case(str(source.relative_to(IOS)), problem_of(done))


def imports_values(source: Path) -> bool:
    """
    Whether the precompiled `Values.h` may be included before a file. It may not if the file imports its own header
    first, because that header must include what it needs.
    """
    imports = re.findall(r'^#import ["<]([^">]+)', source.read_text(encoding="utf8"), re.M)
    return "Values.h" in imports and imports[0] != f"{source.stem}.h"


def objective_c() -> str | None:
    """Rejects files of plain Objective-C, where `@(a > b)` is a number and not a boolean."""
    found = [str(path) for path in sources(".m")]
    return f"{', '.join(found)}: rename to .mm" if found else None


def analyze() -> list[Case]:
    precompiled()
    precompiled_core()
    wrong = BUILD / "self-test-analyzer.mm"
    wrong.write_text("int read() {\n  int *nowhere = nullptr;\n  return *nowhere;\n}\n", encoding="utf8")
    found = analysis(wrong)
    seen = Case("sees a null pointer", None if found and "NullDereference" in found else f"found {found}")
    cases = in_parallel(lambda source: Case(str(source.relative_to(IOS)), analysis(source)), sources(".mm", ".cpp"))
    return [*cases, seen]


def analysis(source: Path) -> str | None:
    before = precompiled() if source.suffix == ".mm" else precompiled_core()
    analyzer = ["--analyze", "-Xanalyzer", "-analyzer-output=text", "-Xclang", "-analyzer-werror"]
    done = run([CLANG, *flags(source), *before, *analyzer, "-Xclang", f"-analyzer-checker={CHECKERS}", source])
    return problem_of(done)
