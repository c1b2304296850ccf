"""
Checks that the fakes, which replace Apple's classes on Linux, have Apple's declarations: they compile against the
derived headers, every method has the declared types, and no fake has a method that Apple's class lacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kit import CLANG, HEADERS, KIT, Case, ios_flags, precompiled, run

FAKES = KIT / "tests/fakes/Fakes.mm"
TYPES = ["-Wmethod-signatures", "-Wmismatched-return-types", "-Wmismatched-parameter-types", "-Werror"]
# Methods that make a fake, and that Apple's class does not have.
OWN = {"initWithParts:"}

WRONG = """
@implementation LAContext
- (NSInteger)canEvaluatePolicy:(LAPolicy)policy error:(NSError **)error { return 0; }
- (BOOL)hasFace { return YES; }
@end
"""


def check() -> list[Case]:
    text = FAKES.read_text(encoding="utf8")
    wrong = f'#import "Fakes.h"\n#pragma clang diagnostic ignored "-Wincomplete-implementation"\n{WRONG}'
    return [
        Case("have the types of the real ones", mistyped(text)),
        Case("have no method of their own", "\n".join(undeclared(text)) or None),
        Case("sees a wrong type", None if mistyped(wrong) else "found nothing"),
        Case(
            "sees a method that is not there", None if undeclared(wrong) == ["LAContext hasFace"] else "found nothing"
        ),
    ]


def mistyped(code: str) -> str | None:
    flags = [*ios_flags(), *precompiled(), "-I", FAKES.parent, *TYPES]
    done = run([CLANG, *flags, "-fsyntax-only", "-"], input=code, cwd=FAKES.parent)
    return done.stderr if done.returncode else None


def undeclared(code: str) -> list[str]:
    """Methods that no derived header declares. These headers have one declaration on each line."""
    owners: dict[str, Owner] = {}
    for header in HEADERS.glob("*.framework/Headers/*.h"):
        read_owners(header.read_text(encoding="utf8"), owners)
    read_owners(code, owners)

    def selectors(name: str) -> set[str]:
        owner = owners.get(name)
        return owner.selectors.union(*map(selectors, owner.parents)) if owner else set()

    return [
        f"{name} {selector}"
        for name, body in re.findall(r"^@implementation (\w+)(.*?)^@end", code, re.M | re.S)
        for selector in sorted(methods(body) - selectors(name) - OWN)
    ]


@dataclass
class Owner:
    parents: list[str] = field(default_factory=list)
    selectors: set[str] = field(default_factory=set)


def read_owners(text: str, owners: dict[str, Owner]) -> None:
    block = r"^@(?:interface|protocol) (\w+)(?:<[^>\n]*>)?(?:\s*:\s*(\w+))?(?:\s*<([^>]*)>)?[ ]*\n(.*?)^@end"
    for name, parent, protocols, body in re.findall(block, text, re.M | re.S):
        owner = owners.setdefault(name, Owner())
        owner.parents += [part.strip() for part in [parent, *protocols.split(",")] if part.strip() not in ("", name)]
        owner.selectors |= methods(body) | accessors(body)


def methods(body: str) -> set[str]:
    found = set()
    for signature in re.findall(r"^[-+] \([^\n]*?\)([a-zA-Z_][^;{]*)[;{]", body, re.M):
        signature = re.sub(r" API_\w+\(.*", "", signature, flags=re.S).strip()
        labels = re.findall(r"(\w+):", re.sub(r"\((?:[^()]|\([^()]*\))*\)", "", signature))
        found.add(":".join(labels) + ":" if labels else signature.split()[0])
    return found


def accessors(body: str) -> set[str]:
    found = set()
    for attributes, declarator in re.findall(r"^@property \(([^)]*)\) ([^;]*);", body, re.M):
        name = re.findall(r"\w+", re.sub(r" API_\w+\(.*", "", declarator))[-1]
        getter = re.search(r"getter=(\w+)", attributes)
        found |= {getter[1] if getter else name, f"set{name[0].upper()}{name[1:]}:"}
    return found
