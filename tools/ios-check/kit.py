"""Paths, compiler flags and helpers that the gates share, and the results that a gate reports."""

from __future__ import annotations

import glob
import os
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

KIT = Path(__file__).resolve().parent
ROOT = KIT.parents[1]
PACKAGE = ROOT / "packages/react-native"
IOS = PACKAGE / "ios"
BUILD = KIT / "build"
TRUTH = BUILD / "truth"
TYPES = ROOT / "tools/native-spec/node_modules/@nativescript/types-ios/lib/ios/objc-x86_64"
REACT_NATIVE = ROOT / "tools/native-spec/node_modules/newest-react-native"
HEADERS = BUILD / "headers"
REACT = BUILD / "react"
SDK = BUILD / "sdk"
OBJECTS = BUILD / "objects"
LIBRARY = BUILD / "DeviceRiskSignals.dylib"
LLVM = Path("/usr/lib/llvm-19")

CLANG = "clang++-19"
TARGET = ["-target", "arm64-apple-ios15.1"]


@dataclass(frozen=True)
class Case:
    """One thing that was checked; `problem` says what is wrong with it, or is `None`."""

    name: str
    problem: str | None = None


def sources(*suffixes: str) -> list[Path]:
    return sorted(path for path in IOS.rglob("*") if path.suffix in suffixes)


def generated_source() -> Path:
    return PACKAGE / "generated/ios/DeviceRiskSignalsSpec/DeviceRiskSignalsSpec-generated.mm"


def object_of(source: Path) -> Path:
    return OBJECTS / f"{source.stem}.o"


def own_objects() -> list[Path]:
    """Objects of the sources that are written by hand, without those that codegen wrote."""
    return [object_of(source) for source in sources(".mm", ".cpp")]


def system(*folders: Path) -> list[str]:
    return [part for folder in folders for part in ("-isystem", str(folder))]


def ios_flags(language: str = "objective-c++") -> list[str]:
    """
    Flags with which an app's build compiles a file, but with headers of Darwin, libc++ and the derived headers in
    place of Apple's SDK.
    """
    arc = ["-fobjc-arc", "-iframework", str(HEADERS)] if language.startswith("objective-c++") else []
    handwritten = KIT / "handwritten"
    return [
        *("-x", language, "-std=c++20", *TARGET, *arc, "-nostdinc", "-nostdinc++"),
        # A file includes what it uses, and the compiler reads less.
        "-D_LIBCPP_REMOVE_TRANSITIVE_INCLUDES",
        *system(handwritten, HEADERS, handwritten / "libcxx", LLVM / "include/c++/v1"),
        *system(LLVM / "lib/clang/19/include", TRUTH / "darwin/include/any-darwin-any"),
        *react_flags(),
    ]


def react_flags() -> list[str]:
    common = REACT_NATIVE / "ReactCommon"
    folders = (
        "callinvoker",
        "jsi",
        "runtimeexecutor",
        "react/nativemodule/core",
        "react/nativemodule/core/platform/ios",
    )
    return system(REACT, common, *(common / folder for folder in folders), common / "yoga", common / "reactperflogger")


FRAMEWORKS = "Foundation UIKit CoreTelephony CoreLocation LocalAuthentication AVFAudio Metal CFNetwork Network".split()
CORE_PRELUDE = ("algorithm", "chrono", "functional", "memory", "mutex", "optional", "string", "vector")
PRELUDE = "".join(f"#import <{name}/{name}.h>\n" for name in FRAMEWORKS) + "".join(
    f"#include <{name}>\n"
    for name in ("sys/sysctl.h", "unistd.h", "stdlib.h", "mach-o/dyld.h", "memory", "optional", "string", "vector")
)


@cache
def precompiled() -> list[str]:
    """
    Flags that include every framework before a file, precompiled. The gate `compile` does not use them, because it must
    detect a missing import.
    """
    return precompile("prelude", PRELUDE, "objective-c++-header")


@cache
def precompiled_core() -> list[str]:
    """Flags that include the headers that most C++ files of ios/core and ios/darwin use before a file, precompiled."""
    return precompile("core-prelude", "".join(f"#include <{name}>\n" for name in CORE_PRELUDE), "c++-header")


@cache
def precompiled_values() -> list[str]:
    """Flags that include a precompiled `Values.h` before a file, for files that import this header themselves."""
    return precompile("values", f'#import "{IOS}/probes/Values.h"\n', "objective-c++-header")


def precompile(name: str, text: str, language: str) -> list[str]:
    header, out = BUILD / f"{name}.h", BUILD / f"{name}.pch"
    header.write_text(text, encoding="utf8")
    done = run([CLANG, *ios_flags(language), "-w", header, "-o", out])
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return ["-include-pch", str(out)]


WARNINGS = [
    *("-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Wstrict-prototypes"),
    *("-Wnullable-to-nonnull-conversion", "-Wnullability-completeness", "-Wunguarded-availability"),
    *("-Wobjc-literal-conversion", "-Wimplicit-retain-self"),
]


def run(command: Iterable[str | Path], **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def problem_of(done: subprocess.CompletedProcess) -> str | None:
    return None if done.returncode == 0 else (done.stdout + done.stderr).strip() or f"exit {done.returncode}"


Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


def link_headers(pattern: str, folder: Path) -> None:
    """Copies headers into one folder, as CocoaPods does."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in glob.glob(pattern, recursive=True):
        if "/Tests/" in path or "/Fabric/" in path:
            continue
        link = folder / os.path.basename(path)
        link.unlink(missing_ok=True)
        link.symlink_to(path)
