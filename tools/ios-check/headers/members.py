"""The members of a class or protocol, as Objective-C."""

from __future__ import annotations

import re

from c_types import NONNULL, NULLABLE, Speller
from declarations import Declarations
from model import Entity, Member, Sdk, Unmapped, split_list


def camel_case(selector: str) -> str:
    """The name that TypeScript gives to a selector: `aB` for `a:b:`."""
    first, *rest = selector.rstrip("_").rstrip(":").split(":")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


class Members:
    def __init__(self, sdk: Sdk, declarations: Declarations, entity: Entity, references: dict[str, bool]):
        self.sdk, self.declarations, self.entity = sdk, declarations, entity
        self.speller = Speller(sdk, entity.name, references)
        self.methods = {(member.selector, member.instance): member for member in sdk.members.get(entity.name, [])}
        self.done: set[tuple[str, bool]] = set()

    def lines(self) -> list[str]:
        return self.properties() + self.remaining_methods()

    # ---- properties: the second source says which methods are their accessors

    def properties(self) -> list[str]:
        lines = []
        for (owner, key), found in self.declarations.table.items():
            if owner != self.entity.name or not key or not found.is_property:
                continue
            instance, name = key[0] == "-", key[1:]
            getter = self.getter(name, instance)
            if getter is None:
                continue
            setter = (f"set{name[0].upper()}{name[1:]}:", instance)
            if (owner, key) in self.declarations.too_new:
                self.done |= {(getter, instance), setter}
                continue
            try:
                lines.append(self.property(key, getter, setter))
            except Unmapped:
                continue
        return lines

    def getter(self, name: str, instance: bool) -> str | None:
        capital = name[0].upper() + name[1:]
        candidates = (name, "is" + capital, "is" + name, "is" + capital.replace("Generates", "Generating"))
        for candidate in candidates:
            method = self.methods.get((candidate, instance))
            if method and not method.arguments:
                return candidate
        return None

    def property(self, key: str, getter: str, setter: tuple[str, bool]) -> str:
        instance, name = key[0] == "-", key[1:]
        declarator = self.speller.spell(self.methods[getter, instance].returns)
        writable = setter in self.methods and not self.declarations.get((self.entity.name, key)).readonly
        attributes = [] if instance else ["class"]
        attributes += ["nonatomic", "readwrite" if writable else "readonly"]
        if getter != name:
            attributes.append(f"getter={getter}")
        if writable:
            attributes += self.ownership(self.methods[setter], declarator)
        if "weak" in attributes:
            declarator = declarator.replace(NONNULL, NULLABLE)
        self.done |= {(getter, instance), setter if writable else (getter, instance)}
        availability = self.declarations.availability((self.entity.name, key))
        return f"@property ({', '.join(attributes)}) {declarator % name}{availability};"

    @staticmethod
    def ownership(setter: Member, declarator: str) -> list[str]:
        if setter.weak:
            return ["weak"]
        if setter.copied or "(^" in declarator:
            return ["copy"]
        return ["strong"] if re.search(r" _Nu?\w+ %s", declarator) and "Ref _" not in declarator else []

    # ---- methods

    def remaining_methods(self) -> list[str]:
        lines, optional = [], False
        for member in self.sdk.members.get(self.entity.name, []):
            if (member.selector, member.instance) in self.done or not self.exists_on_ios(member):
                continue
            try:
                line = self.method(member)
            except (Unmapped, IndexError):
                continue
            if self.entity.kind == "protocol" and member.optional != optional:
                lines.append("@optional" if member.optional else "@required")
                optional = member.optional
            lines.append(line)
            self.done.add((member.selector, member.instance))
        return lines

    def key(self, member: Member) -> tuple[str, str]:
        return self.entity.name, ("-" if member.instance else "+") + camel_case(member.selector)

    def exists_on_ios(self, member: Member) -> bool:
        """Whether a member exists on iOS. The crates also contain members that only macOS has."""
        if (self.entity.name, "") not in self.declarations or member.selector in ("init", "new", "alloc"):
            return True
        key = self.key(member)
        return key in self.declarations and key not in self.declarations.too_new

    def nullable_block_parameters(self, member: Member) -> list[bool] | None:
        found = self.declarations.get(self.key(member))
        if found is None or "=>" not in found.signature:
            return None
        block = re.search(r"\(((?:p1: .*))\) => ", found.signature)
        return ["| null" in part for part in split_list(block[1])] if block else None

    def method(self, member: Member) -> str:
        selector, returns = member.selector, member.returns
        gives_error = selector.endswith(":_")
        if gives_error:
            selector = selector[:-1]
            result = re.fullmatch(r"Result<(.*), Retained<(\w+)>>", returns)
            returns = "Bool" if result[1] == "()" else f"Option<{result[1]}>"
            self.speller.needs("NSError", by_name_alone=True)
        spelt = (self.speller.spell(returns) % "").strip()
        blocks = self.nullable_block_parameters(member)
        labels = selector.split(":")[:-1]
        parts = []
        for index, label in enumerate(labels):
            if gives_error and index == len(labels) - 1:
                parts.append(f"{label}:(NSError * _Nullable * _Nullable)error")
                continue
            name, kind = member.arguments[index]
            name = name.removeprefix("r#").strip("_")
            parts.append(f"{label}:({self.speller.spell(kind, NONNULL, blocks) % ''}){name}_")
        sign = "-" if member.instance else "+"
        return f"{sign} ({spelt}){' '.join(parts) or selector}{self.declarations.availability(self.key(member))};"
