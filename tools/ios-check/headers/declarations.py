"""
Reads the TypeScript declarations of @nativescript/types-ios: what is a property, what exists on iOS, and since when.
"""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass

NEVER = "100000"


@dataclass(frozen=True)
class Declaration:
    since: str | None
    deprecated: str | None
    signature: str
    readonly: bool
    file: str

    @property
    def is_property(self) -> bool:
        return self.signature.startswith(":")


class Declarations:
    """Declarations by owner (a class, or `""`) and name. A member has `-` or `+` before its name."""

    def __init__(self, folder: str, newest_sdk: str):
        self.table: dict[tuple[str, str], Declaration] = {}
        for path in glob.glob(f"{folder}/objc!*.d.ts"):
            self._read(path)
        newest = _version(newest_sdk)
        self.too_new = {key for key, found in self.table.items() if found.since and _version(found.since) > newest}

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self.table

    def get(self, key: tuple[str, str]) -> Declaration | None:
        return self.table.get(key)

    def availability(self, key: tuple[str, str]) -> str:
        """The attribute at the end of a declaration, or an empty text."""
        found = self.table.get(key)
        if found is None:
            return ""
        if found.deprecated and found.deprecated != NEVER:
            return f' API_DEPRECATED("", ios({found.since or "2.0"}, {found.deprecated}))'
        return f" API_AVAILABLE(ios({found.since}))" if found.since else ""

    def _read(self, path: str) -> None:
        owner, since, deprecated = "", None, None
        with open(path, encoding="utf8") as file:
            lines = [line.strip() for line in file]

        def add(key: tuple[str, str], signature: str, readonly: bool = False) -> None:
            self.table.setdefault(key, Declaration(since, deprecated, signature, readonly, path))

        for line in lines:
            if match := re.match(r"\* @since (\S+)", line):
                since = match[1]
                continue
            if match := re.match(r"\* @deprecated (\S+)", line):
                deprecated = match[1]
                continue
            if line.startswith(("/**", "*")) or not line:
                continue
            if match := re.match(r"(?:declare (?:class|const enum) |interface )(\w+)", line):
                owner = match[1]
                add((owner, ""), line)
            elif line == "}":
                owner = ""
                continue
            elif match := re.match(r"declare (?:function|var|const|let) (\w+)", line):
                add(("", match[1]), line)
            elif match := re.match(r"(static )?(readonly )?(\w+)\??(.*)", line):
                add((owner, ("+" if match[1] else "-") + match[3]), match[4], bool(match[2]))
            since = deprecated = None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
