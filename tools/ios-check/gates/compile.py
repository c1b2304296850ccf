"""Every source file compiles for iOS 15.1 with all warnings as errors, and the static analyzer has nothing to say."""

from __future__ import annotations

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
    cases = in_parallel(compile_own, sources(".mm", ".cpp"))
    generated = generated_source()
    done = run([CLANG, *flags(generated), "-c", generated, "-o", object_of(generated)])
    cases.append(Case("generated spec", problem_of(done)))
    return [*cases, Case("no Objective-C without C++", objective_c())]


def compile_own(source: Path) -> Case:
    warnings = WARNINGS if source.suffix == ".mm" else [flag for flag in WARNINGS if "objc" not in flag]
    done = run([CLANG, *flags(source), *warnings, "-c", source, "-o", object_of(source)])
    return Case(str(source.relative_to(IOS)), problem_of(done))


def objective_c() -> str | None:
    """There `@(a > b)` is a number, not a boolean."""
    found = [str(path) for path in sources(".m")]
    return f"{', '.join(found)}: rename to .mm" if found else None


def analyze() -> list[Case]:
    precompiled()
    wrong = BUILD / "self-test-analyzer.mm"
    wrong.write_text("int read() {\n  int *nowhere = nullptr;\n  return *nowhere;\n}\n", encoding="utf8")
    found = analysis(wrong)
    seen = Case("sees a null pointer", None if found and "NullDereference" in found else f"found {found}")
    cases = in_parallel(lambda source: Case(str(source.relative_to(IOS)), analysis(source)), sources(".mm", ".cpp"))
    return [*cases, seen]


def analysis(source: Path) -> str | None:
    before = precompiled() if source.suffix == ".mm" else []
    analyzer = ["--analyze", "-Xanalyzer", "-analyzer-output=text", "-Xclang", "-analyzer-werror"]
    done = run([CLANG, *flags(source), *before, *analyzer, "-Xclang", f"-analyzer-checker={CHECKERS}", source])
    return problem_of(done)
