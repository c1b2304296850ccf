"""What is known of Apple's SDK: entities (classes, enums, functions, ...), their members, and their availability."""

from __future__ import annotations

from dataclasses import dataclass, field


class Unmapped(Exception):
    """These scripts can't declare an entity, or can't spell a type in C."""


@dataclass
class Member:
    """A method, as the crates have it."""

    selector: str
    arguments: list[tuple[str, str]]
    returns: str
    instance: bool
    optional: bool
    copied: bool
    weak: bool


@dataclass
class Entity:
    """
    A named thing of a framework. `kind` is class, protocol, enum, struct, cf (an opaque CoreFoundation type), alias,
    variable, constant or function; `detail` holds what is particular to the kind.
    """

    name: str
    kind: str
    framework: str
    detail: dict = field(default_factory=dict)

    def __getitem__(self, key: str):
        return self.detail[key]

    def get(self, key: str, default=None):
        return self.detail.get(key, default)


@dataclass
class Sdk:
    entities: dict[str, Entity] = field(default_factory=dict)
    members: dict[str, list[Member]] = field(default_factory=dict)
    protocols: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, kind: str, framework: str, **detail) -> None:
        """Adds an entity, unless one with the same name is known."""
        self.entities.setdefault(name, Entity(name, kind, framework, detail))

    def of_kind(self, name: str, *kinds: str) -> bool:
        return name in self.entities and self.entities[name].kind in kinds


# Types that are written by hand in handwritten/AppleStubs, because no source contains them.
BY_HAND = {"CFType", "NSCopying", "NSMutableCopying", "NSFastEnumeration", "NSObject", "NSFastEnumerationState"}


def closing(text: str, start: int) -> int:
    """Index of the parenthesis that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "(":
            depth += 1
        elif text[index] == ")":
            depth -= 1
            if depth == 0:
                return index
    raise ValueError("unbalanced parentheses")


def split_list(text: str) -> list[str]:
    """Splits at the commas that no bracket encloses; the `>` of an arrow closes none."""
    parts, depth, part = [], 0, ""
    for index, sign in enumerate(text):
        if sign in "(<[{":
            depth += 1
        if sign in ")]}" or (sign == ">" and text[index - 1] != "-"):
            depth -= 1
        if sign == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += sign
    return [part for part in [*parts, part.strip()] if part]
