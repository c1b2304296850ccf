#!/usr/bin/env python3
"""
Derives Objective-C headers for the API that the module uses, from two independent machine-made readings of Apple's SDK:
the objc2 crates (selectors, C types, nullability, enumerators) and @nativescript/types-ios (properties, availability,
presence on iOS). Only macros and variadic functions are written by hand (handwritten/AppleStubs). The script
fails at a name that neither source has.

usage: derive.py used-api.json CRATES TYPES OUT
"""

from __future__ import annotations

import json
import os
import re
import sys

from crates import read_crates
from declarations import Declarations
from entities import Declarer, generics
from model import BY_HAND, Sdk, Unmapped
from types_only import type_only_header

GENERATED = "// Derived by tools/ios-check/headers; not Apple's text.\n#pragma once\n"


def wanted_names(sdk: Sdk, frameworks: dict[str, list[str]]) -> set[str]:
    wanted: set[str] = set()
    for framework, patterns in frameworks.items():
        for pattern in patterns:
            found = {
                name
                for name, entity in sdk.entities.items()
                if entity.framework == framework and re.fullmatch(pattern, name)
            }
            if not found:
                sys.exit(f"derive.py: the sources have no such API: {framework} {pattern}")
            wanted |= found
    return wanted


class Derivation:
    """Declares the wanted entities and, before each of them, what it needs."""

    def __init__(self, sdk: Sdk, declarations: Declarations, wanted: set[str]):
        self.sdk, self.wanted = sdk, wanted
        self.declarer = Declarer(sdk, declarations, wanted)
        self.texts: dict[str, str] = {}
        self.needs: dict[str, set[str]] = {}
        self.by_name_alone: set[str] = set()
        self.visiting: set[str] = set()
        values_last = sorted(wanted, key=lambda name: (sdk.entities[name].kind in ("variable", "function"), name))
        for name in values_last:
            self.visit(name)

    def visit(self, name: str) -> None:
        if name in self.texts or name in self.visiting or name in BY_HAND or name not in self.sdk.entities:
            return
        self.visiting.add(name)
        try:
            text, references = self.declarer.declare(self.sdk.entities[name])
        except Unmapped:
            self.visiting.discard(name)
            return
        for other, by_name_alone in references.items():
            if by_name_alone and other not in self.wanted:
                self.by_name_alone.add(other)
            elif not by_name_alone:
                self.visit(other)
        self.texts[name] = text
        self.needs[name] = {other for other, by_name_alone in references.items() if not by_name_alone}
        self.visiting.discard(name)

    def frameworks(self) -> list[str]:
        return sorted({self.sdk.entities[name].framework for name in self.texts})

    def of(self, framework: str) -> list[str]:
        return [name for name in self.texts if self.sdk.entities[name].framework == framework]

    def forward(self, foundation: bool) -> str:
        lines = []
        for name in sorted(set(self.texts) | self.by_name_alone):
            if name in BY_HAND or not self.sdk.of_kind(name, "class", "protocol"):
                continue
            entity = self.sdk.entities[name]
            if (entity.framework == "Foundation") == foundation:
                is_class = entity.kind == "class"
                lines.append(f"@class {name}{generics(entity)};" if is_class else f"@protocol {name};")
        return "\n".join(lines) + "\n"

    def imports(self, framework: str) -> list[str]:
        used = {
            self.sdk.entities[other].framework
            for name in self.of(framework)
            for other in self.needs[name]
            if other in self.texts
        } - {framework, "objc"}
        if framework == "CoreFoundation":
            return sorted(used - {"Foundation"})
        first = "CoreFoundation" if framework == "Foundation" else "Foundation"
        return [first, *sorted(used - {first})]


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf8") as file:
        file.write(text)


def write_framework(derivation: Derivation, framework: str, out: str) -> None:
    folder = f"{out}/{framework}.framework/Headers"
    imports = "".join(f"#import <{other}/{other}.h>\n" for other in derivation.imports(framework))
    body = "\n\n".join(derivation.texts[name] for name in derivation.of(framework))
    extra = "#include <AppleStubs/FoundationExtra.h>\n" if framework == "Foundation" else ""
    write(
        f"{folder}/{framework}.h",
        f"{GENERATED}#include <AppleStubs/Forward.h>\n{imports}"
        f"#pragma clang arc_cf_code_audited begin\n\n{body}\n\n#pragma clang arc_cf_code_audited end\n{extra}",
    )
    for name in derivation.of(framework):
        if derivation.sdk.of_kind(name, "class", "protocol"):
            write(f"{folder}/{name}.h", f"#pragma once\n#import <{framework}/{framework}.h>\n")


def main() -> None:
    used_api, crates, types, out = sys.argv[1:]
    with open(used_api, encoding="utf8") as file:
        used = json.load(file)
    sdk = read_crates(crates)
    declarations = Declarations(types, used["newestSdk"])
    derivation = Derivation(sdk, declarations, wanted_names(sdk, used["frameworks"]))
    write(
        f"{out}/AppleStubs/Forward.h",
        "#pragma once\n#include <AppleStubs/Base.h>\n#include <AppleStubs/ForwardFoundation.h>\n"
        + derivation.forward(False),
    )
    write(f"{out}/AppleStubs/ForwardFoundation.h", "#pragma once\n" + derivation.forward(True))
    exported = {
        framework: {name: sdk.entities[name].kind for name in derivation.of(framework)}
        for framework in derivation.frameworks()
    }
    for framework in derivation.frameworks():
        write_framework(derivation, framework, out)
    for framework, wanted in used["typesOnly"].items():
        text, functions = type_only_header(framework, wanted["names"], wanted.get("override", {}), declarations, types)
        exported[framework] = {name: "function" for name in functions}
        write(
            f"{out}/{framework}.framework/Headers/{framework}.h",
            f"{GENERATED}#import <Foundation/Foundation.h>\n{text}",
        )
    write(f"{out}/exported.json", json.dumps(exported, indent=1) + "\n")
    print(f"{len(derivation.texts)} declarations in {len(exported)} frameworks")


if __name__ == "__main__":
    main()
