"""
Runs what can run here under doctest and the sanitizers: ios/core and the Unix part of ios/darwin as they are, the
probes and the module on GNUstep with fakes of Apple's classes.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from kit import BUILD, CLANG, HEADERS, IOS, KIT, Case, in_parallel, problem_of, react_flags, run, system

OUT = BUILD / "linux"
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
# Files that run on any Unix. The other files of ios/darwin are replaced by fakes.
UNIX = ["Files", "ForkAttempt", "Loopback", "NetworkInterfaces"]
CORE = sorted((IOS / "core").glob("*.cpp"))
TESTS = KIT / "tests"
PRELUDE = ("algorithm", "chrono", "functional", "memory", "mutex", "optional", "string", "thread", "vector")
EVENT_SCHEMA = IOS.parents[1] / "contract/schema/raw-signal-event.schema.json"
ENVIRONMENT = {
    **os.environ,
    "ASAN_OPTIONS": "detect_leaks=0",
    "TSAN_OPTIONS": "halt_on_error=1",
    "EVENT_SCHEMA": str(EVENT_SCHEMA),
}


def check() -> list[Case]:
    OUT.mkdir(parents=True, exist_ok=True)
    unix = [IOS / f"darwin/{name}.cpp" for name in UNIX]
    core_tests = sorted((TESTS / "core").glob("*.cpp"))
    threads = [TESTS / "core/main.cpp", TESTS / "core/token.test.cpp", IOS / "core/Calls.cpp"]
    cases = run_tests("core", [*CORE, *unix, *core_tests], [*strict(), *SANITIZE])
    cases += run_tests("threads", threads, [*strict(), "-fsanitize=thread"])
    return cases + run_probes()


def strict() -> list[str]:
    return ["-std=c++17", "-gline-tables-only", "-Wall", "-Wextra", "-Werror"]


def build(name: str, sources: list[Path], flags: list[str], link: list[str | Path]) -> str | None:
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    of_language = {
        suffix: [*flags, *(objc_flags() if suffix == ".mm" else [])] for suffix in {item.suffix for item in sources}
    }
    preludes = {suffix: prelude(folder, suffix, of_language[suffix]) for suffix in of_language}

    def compile_one(source: Path) -> tuple[Path, str | None]:
        item = object_of(name, source)
        before = ["-include-pch", preludes[source.suffix]]
        return item, problem_of(run([CLANG, *of_language[source.suffix], *before, "-c", source, "-o", item]))

    built = in_parallel(compile_one, sources)
    problems = [problem for _, problem in built if problem]
    if problems:
        return "\n".join(problems)
    return problem_of(run([CLANG, *flags, *(item for item, _ in built), *link, "-o", OUT / f"{name}-tests"]))


def object_of(name: str, source: Path) -> Path:
    return OUT / name / f"{source.parent.name}-{source.name}.o"


def prelude(folder: Path, suffix: str, flags: list[str]) -> Path:
    """
    A precompiled header with what most files include. The compilation for iOS shows whether each file includes what it
    needs.
    """
    header, out = folder / f"prelude{suffix}.h", folder / f"prelude{suffix}.pch"
    language, text = {
        ".cpp": ("c++-header", ""),
        ".mm": ("objective-c++-header", "#import <Foundation/Foundation.h>\n"),
    }[suffix]
    header.write_text(text + "".join(f"#include <{name}>\n" for name in PRELUDE), encoding="utf8")
    done = run([CLANG, "-x", language, *flags, "-w", header, "-o", out])
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return out


def run_tests(name: str, sources: list[Path], flags: list[str], link: list[str | Path] = ()) -> list[Case]:
    problem = build(name, sources, flags, list(link))
    if problem:
        return [Case(f"{name} builds", problem)]
    program = OUT / f"{name}-tests"
    listed = run([program, "--list-test-cases", "--no-version"], env=ENVIRONMENT).stdout.splitlines()
    tests = [line for line in listed if line and not line.startswith(("[doctest]", "==="))]
    done = run([program, "--no-version"], env=ENVIRONMENT)
    return [Case(f"{name} builds"), *results(name, tests, done)]


def results(name: str, tests: list[str], done) -> list[Case]:
    """One case for each test case of doctest. If the run broke off, all of them failed."""
    output = done.stdout + done.stderr
    count = re.search(r"test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed", output)
    failed = set(re.findall(r"^TEST CASE:\s+(.*)$", output, re.M))
    if count is None or int(count[1]) != len(tests) or (done.returncode != 0) != (int(count[3]) > 0):
        return [
            Case(f"{name} runs to its end", output),
            *(Case(f"{name}: {test}", "the run broke off") for test in tests),
        ]
    return [Case(f"{name}: {test}", report(output, test) if test in failed else None) for test in tests]


def report(output: str, test: str) -> str:
    return next((part.strip() for part in output.split("=" * 79) if f"TEST CASE:  {test}\n" in part), output)


# ---- Objective-C on GNUstep


def run_probes() -> list[Case]:
    lay_out()
    # The check of dynamic types would need the types of React Native, which are not here. The code is not optimised,
    # because linux/arc_runtime.c implements plain ARC and not the output of the optimiser.
    flags = ["-std=c++20", "-gline-tables-only", "-fblocks", *SANITIZE, "-fno-sanitize=vptr"]
    faked = sorted((TESTS / "fakes").glob("*.cpp")) + sorted((TESTS / "fakes").glob("*.mm"))
    darwin = [IOS / f"darwin/{name}.cpp" for name in UNIX if name != "ForkAttempt"]
    objc = [*IOS.glob("*.mm"), *sorted((IOS / "probes").glob("*.mm")), *sorted((TESTS / "probes").glob("*.mm"))]
    runtime = OUT / "arc_runtime.o"
    problem = problem_of(
        run(["clang-19", "-O1", "-g", "-fblocks", "-fPIC", "-c", KIT / "linux/arc_runtime.c", "-o", runtime])
    )
    if problem:
        return [Case("arc_runtime.c", problem)]
    sources = [*faked, *objc, KIT / "linux/objc_exceptions.cpp"]
    # The tests of `core` have compiled these.
    plain = [object_of("core", source) for source in [*CORE, *darwin]]
    gcc = Path(run(["gcc", "-print-libgcc-file-name"]).stdout.strip()).parent
    libraries = ["-rdynamic", f"-L{gcc}", "-lBlocksRuntime", "-lgnustep-base", "-lobjc", "-ldl", "-lpthread"]
    # React Native itself is not here, so the module is tested through its methods.
    return run_tests(
        "probes", sources, flags, [*plain, runtime, *libraries, "-Wl,--unresolved-symbols=ignore-in-object-files"]
    )


def gcc_headers() -> Path:
    return Path(run(["gcc", "-print-file-name=include"]).stdout.strip())


def lay_out() -> None:
    """
    The derived headers except Foundation, which GNUstep has, and gcc's runtime headers in a form that clang's ARC
    accepts.
    """
    folder = OUT / "headers"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "objc").mkdir(parents=True)
    text = (gcc_headers() / "objc/runtime.h").read_text(encoding="utf8")
    text = re.sub(r'#include "(.*)"', r"#include <objc/\1>", text)
    text = text.replace("Protocol **", "Protocol * __unsafe_unretained *")
    text = text.replace("return object->class_pointer;", "return *(Class *)(__bridge void *)object;")
    (folder / "objc/runtime.h").write_text(text, encoding="utf8")
    (folder / "objc/blocks_runtime.h").write_text("#include <Block.h>\n", encoding="utf8")
    for framework in HEADERS.glob("*.framework"):
        if framework.stem != "Foundation":
            (folder / framework.stem).symlink_to(framework / "Headers")


def objc_flags() -> list[str]:
    return [
        *("-fobjc-runtime=gnustep-1.8", "-fobjc-arc", "-fexceptions", "-fobjc-exceptions", "-D_NATIVE_OBJC_EXCEPTIONS"),
        *(
            "-fconstant-string-class=NSConstantString",
            "-D__nullable=_Nullable",
            "-Wall",
            "-Wno-nullability-completeness",
            "-Werror",
        ),
        *system(
            KIT / "linux", KIT / "handwritten", HEADERS, OUT / "headers", Path("/usr/include/GNUstep"), gcc_headers()
        ),
        *react_flags(),
    ]
