"""Compares the podspec, which `podspec.rb` evaluates, with the files of the package and with what the objects link."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

from kit import IOS, KIT, LIBRARY, PACKAGE, Case, generated_source, run, sources

NAME = "DeviceRiskSignals"
# Frameworks that every app links, or that the compiler links by itself.
IMPLIED = {"Foundation", "CoreFoundation", "UIKit"}
REQUIRED = ("name", "version", "summary", "homepage", "license", "authors", "source", "platforms", "source_files")
# Packing for a release adds these members to the manifest.
OF_RELEASE = {"homepage": "homepage of the project", "author": "author of the project"}


def check() -> list[Case]:
    with TemporaryDirectory() as folder:
        released = Path(folder)
        manifest = json.loads((PACKAGE / "package.json").read_text())
        (released / "package.json").write_text(json.dumps({**manifest, **OF_RELEASE}))
        copy(PACKAGE / f"{NAME}.podspec", released)
        done = run(["ruby", KIT / "podspec.rb", released / f"{NAME}.podspec"])
    if done.returncode != 0:
        return [Case("is read", done.stderr)]
    spec = json.loads(done.stdout)
    return [
        Case("is read"),
        Case("has what CocoaPods requires", missing(spec)),
        Case("is for iOS 15.1", platform(spec)),
        Case("takes React Native's dependencies", None if spec.get("install_modules_dependencies") else "does not"),
        Case("holds every source", sources_held(spec)),
        Case("makes no header public", headers_private(spec)),
        Case("bundles the privacy manifest", privacy(spec)),
        Case("links the frameworks that are used", frameworks(spec)),
    ]


def missing(spec: dict) -> str | None:
    return ", ".join(key for key in REQUIRED if not spec.get(key)) or None


def platform(spec: dict) -> str | None:
    return None if spec["platforms"] == {"ios": "15.1"} else str(spec["platforms"])


def globbed(patterns) -> set[Path]:
    """Files that match patterns with braces, which Ruby's glob knows and Python's does not."""
    found = set()
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        braces = re.search(r"\{([^}]*)\}", pattern)
        expanded = [pattern.replace(braces[0], part) for part in braces[1].split(",")] if braces else [pattern]
        matched = {path for each in expanded for path in PACKAGE.glob(each)}
        if not matched:
            raise FileNotFoundError(pattern)
        found |= matched
    return found


def sources_held(spec: dict) -> str | None:
    wanted = {
        *sources(".mm", ".cpp", ".h"),
        generated_source(),
        generated_source().with_name("DeviceRiskSignalsSpec.h"),
    }
    left = wanted - globbed(spec["source_files"])
    return ", ".join(str(path.relative_to(PACKAGE)) for path in left) or None


def headers_private(spec: dict) -> str | None:
    headers = {path for path in globbed(spec["source_files"]) if path.suffix == ".h"}
    left = headers - globbed(spec["private_header_files"])
    return ", ".join(path.name for path in left) or None


def privacy(spec: dict) -> str | None:
    bundles = spec.get("resource_bundles", {})
    held = [path for patterns in bundles.values() for path in globbed(patterns)]
    return None if IOS / "PrivacyInfo.xcprivacy" in held else f"bundles {bundles}"


def frameworks(spec: dict) -> str | None:
    linked = set(re.findall(r"Frameworks/(\w+)\.framework", run(["llvm-otool-19", "-L", LIBRARY]).stdout)) - IMPLIED
    named = set(spec["frameworks"])
    lines = [f"used, not named: {name}" for name in sorted(linked - named)]
    lines += [f"named, not used: {name}" for name in sorted(named - linked - IMPLIED)]
    return "\n".join(lines) or None
