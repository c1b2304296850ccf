"""Finds what compiled objects refer to, and which of their code runs by itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kit import run


@cache
def references(item: Path) -> frozenset[str]:
    """
    Undefined symbols without the leading underscore, classes by their bare name, and selectors with a `-` before
    them.
    """
    symbols = run(["llvm-nm-19", "--undefined-only", "--format=just-symbols", item]).stdout.split()
    names = set()
    for symbol in symbols:
        name = symbol.split("$NOCANCEL")[0].split("$DARWIN_EXTSN")[0].removeprefix("_")
        if name.startswith("objc_msgSend$"):
            name = "-" + name.removeprefix("objc_msgSend$")
        names.add(name.removeprefix("OBJC_CLASS_$_"))
    return frozenset(names | {"-" + selector for selector in strings(item, "__TEXT,__objc_methname")})


def strings(item: Path, section: str) -> list[str]:
    dumped = run(["llvm-objdump-19", "--macho", f"--section={section}", item]).stdout
    return [match[1].strip() for match in re.finditer(r"^[0-9a-f]+ +(.*)$", dumped, re.M)]


def sections(item: Path) -> set[str]:
    headers = run(["llvm-objdump-19", "--section-headers", item]).stdout
    return set(re.findall(r"^\s*\d+\s+(__\w+)\s+", headers, re.M))
