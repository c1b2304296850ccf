"""The C or Objective-C declaration of one entity."""

from __future__ import annotations

import re

from c_types import PRIMITIVES, Speller
from declarations import Declarations
from members import Members
from model import BY_HAND, Entity, Sdk, Unmapped

OTHER_PLATFORMS = ("macOS", "tvOS")


class Declarer:
    """`declare` returns the text, and the names that it refers to (True: a forward declaration is enough)."""

    def __init__(self, sdk: Sdk, declarations: Declarations, wanted: set[str]):
        self.sdk, self.declarations, self.wanted = sdk, declarations, wanted

    def declare(self, entity: Entity) -> tuple[str, dict[str, bool]]:
        name = entity.name
        if ("", name) in self.declarations.too_new or (name, "") in self.declarations.too_new:
            raise Unmapped("newer than the oldest SDK that must suffice")
        if entity.kind in ("variable", "function") and ("", name) not in self.declarations:
            raise Unmapped("not on iOS")
        references: dict[str, bool] = {}
        writer = {
            "class": self.interface,
            "protocol": self.protocol,
            "enum": self.enum,
            "struct": self.struct,
            "cf": self.opaque,
            "alias": self.alias,
            "variable": self.variable,
            "constant": self.constant,
            "function": self.function,
        }[entity.kind]
        return writer(entity, Speller(self.sdk, name, references)), references

    def body(self, entity: Entity, speller: Speller) -> str:
        return "\n".join(Members(self.sdk, self.declarations, entity, speller.references).lines())

    def interface(self, entity: Entity, speller: Speller) -> str:
        speller.needs(entity["superclass"])
        body = self.body(entity, speller)
        protocols = [name for name in dict.fromkeys(self.sdk.protocols.get(entity.name, [])) if self.adopts(name)]
        for name in protocols:
            if name not in BY_HAND:
                speller.needs(name)
        adopted = f" <{', '.join(protocols)}>" if protocols else ""
        head = f"@interface {entity.name}{generics(entity)} : {entity['superclass']}{adopted}"
        return f"{self.declarations.availability((entity.name, '')).strip()}\n{head}\n{body}\n@end"

    def adopts(self, protocol: str) -> bool:
        if protocol in BY_HAND:
            return protocol != "NSObject"
        return self.sdk.of_kind(protocol, "protocol") and protocol in self.wanted

    def protocol(self, entity: Entity, speller: Speller) -> str:
        parents = ["NSObject" if name == "NSObjectProtocol" else name for name in entity["parents"]]
        parents = [name for name in parents if name in BY_HAND or name in self.sdk.entities]
        for name in parents:
            if name not in BY_HAND:
                speller.needs(name)
        adopted = f" <{', '.join(parents)}>" if parents else ""
        return f"@protocol {entity.name}{adopted}\n{self.body(entity, speller)}\n@end"

    def enum(self, entity: Entity, speller: Speller) -> str:
        base = entity["base"]
        if base not in PRIMITIVES and base in self.sdk.entities:
            speller.needs(base)
        lines = [
            f"  {name}{self.enumerator_availability(entity.name, name)} = {c_expression(value)},"
            for name, value in entity["values"]
            if "::" not in value and "." not in value and not any(word in name for word in OTHER_PLATFORMS)
        ]
        macro = "NS_OPTIONS" if entity["options"] else "NS_ENUM"
        availability = self.declarations.availability((entity.name, ""))
        head = f"typedef {macro}({PRIMITIVES.get(base, base)}, {entity.name}) {{"
        return "\n".join([head, *lines, f"}}{availability};"])

    def enumerator_availability(self, enum: str, name: str) -> str:
        """Looks an enumerator up with and without the enum's prefix, because TypeScript has both forms."""
        for start in range(len(name)):
            if (enum, "-" + name[start:]) in self.declarations:
                return self.declarations.availability((enum, "-" + name[start:]))
        return ""

    def struct(self, entity: Entity, speller: Speller) -> str:
        fields = "".join(f"  {speller.spell(kind) % name};\n" for name, kind in entity["fields"])
        return f"typedef struct {entity.name} {{\n{fields}}} {entity.name};"

    def opaque(self, entity: Entity, _speller: Speller) -> str:
        const = "" if "Mutable" in entity.name else "const "
        return f"typedef {const}struct {entity['tag']} *{entity.name}Ref;"

    def alias(self, entity: Entity, speller: Speller) -> str:
        return f"typedef {re.sub(' _N[a-z_]+', '', speller.spell(entity['target'])) % entity.name};"

    def variable(self, entity: Entity, speller: Speller) -> str:
        declarator = speller.spell(entity["type"]) % f"const {entity.name}"
        return f"FOUNDATION_EXPORT {declarator}{self.declarations.availability(('', entity.name))};"

    def constant(self, entity: Entity, speller: Speller) -> str:
        return f"static const {speller.spell(entity['type']) % entity.name} = {entity['value']};"

    def function(self, entity: Entity, speller: Speller) -> str:
        parameters = [speller.spell(kind) % name.removeprefix("r#") for name, kind in entity["arguments"]]
        declarator = speller.spell(entity["returns"]) % f"{entity.name}({', '.join(parameters) or 'void'})"
        return f"FOUNDATION_EXPORT {declarator}{self.declarations.availability(('', entity.name))};"


def generics(entity: Entity) -> str:
    names = entity.get("generics", [])
    return f"<{', '.join('__covariant ' + name for name in names)}>" if names else ""


def c_expression(rust: str) -> str:
    return rust.replace(" as _", "").replace("1<<", "1ULL<<").replace("1 <<", "1ULL <<")
