"""
Checks that no boolean is boxed as a number: `@(flags & 4)` or `@(a ? 1 : 0)` would reach JSON as 1 or 0, which the
event's schema rejects. The check reads the compiler's syntax tree of every .mm file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from kit import CLANG, IOS, Case, in_parallel, ios_flags, precompiled, run, sources

BOOLEANS = {"bool", "BOOL", "Boolean", "_Bool"}
TRANSPARENT = {
    *("ImplicitCastExpr", "ParenExpr", "CStyleCastExpr", "ExprWithCleanups", "CXXStaticCastExpr"),
    *("CXXFunctionalCastExpr", "OpaqueValueExpr"),
}
LOGICAL = {"&&", "||", "==", "!=", "<", ">", "<=", ">="}
BITWISE = {"&", "|", "^"}

# (code, whether it boxes a boolean as a number)
SELF_TEST = [
    ("@(a > b)", False),
    ("@(flag)", False),
    ("@(a + b)", False),
    ("[NSNumber numberWithBool:flag]", False),
    ("[NSNumber numberWithDouble:static_cast<double>(a)]", False),
    ("@(flag & other)", True),
    ("@(a > b ? 1 : 0)", True),
    ("@(static_cast<int>(flag))", True),
    ("[NSNumber numberWithInt:flag]", True),
    ("[NSNumber numberWithDouble:a == b]", True),
]


# Matches everything that boxes a number, except the method that makes a boolean.
BOXES = re.compile(r"@\(|numberWith(?!Bool:)|initWith(Int|Double|Float|Long|Char|Short|Unsigned)")
# The parts of the syntax tree that are examined: our namespace, and our classes.
NAMESPACE = "drs"


def check() -> list[Case]:
    precompiled()
    return [*in_parallel(check_source, sources(".mm")), *check_self()]


def check_source(source: Path) -> Case:
    code = source.read_text(encoding="utf8")
    found = boxed_as_number(code, source.parent) if BOXES.search(code) else []
    return Case(str(source.relative_to(IOS)), "\n".join(found) or None)


def check_self() -> list[Case]:
    functions = [
        f"id box{index}(int a, int b, bool flag, bool other) {{ return {expression}; }}"
        for index, (expression, _) in enumerate(SELF_TEST)
    ]
    code = "#import <Foundation/Foundation.h>\nnamespace drs {\n" + "\n".join(functions) + "\n}\n"
    found = boxed_as_number(code, IOS)
    return [
        Case(
            f"sees {expression} as it is",
            problem_of_self(flagged, [line for line in found if f"line {index + 3}:" in line]),
        )
        for index, (expression, flagged) in enumerate(SELF_TEST)
    ]


def problem_of_self(flagged: bool, found: list[str]) -> str | None:
    return None if bool(found) == flagged else f"found: {found}"


def boxed_as_number(code: str, folder: Path) -> list[str]:
    finder = Finder()
    for name in [NAMESPACE, *re.findall(r"^@implementation (\w+)", code, re.M)]:
        for tree in syntax_trees(code, folder, name):
            finder.visit(tree)
    return sorted(set(finder.found))


def syntax_trees(code: str, folder: Path, name: str) -> list[dict]:
    dump = ["-Xclang", "-ast-dump=json", "-Xclang", f"-ast-dump-filter={name}"]
    done = run([CLANG, *ios_flags(), *precompiled(), "-w", "-fsyntax-only", *dump, "-"], input=code, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    trees, at, decoder = [], 0, json.JSONDecoder()
    while (start := done.stdout.find("{", at)) >= 0:
        tree, at = decoder.raw_decode(done.stdout, start)
        trees.append(tree)
    return trees


class Finder:
    """Keeps the current line, because a node of the tree names its line only if the previous node has another one."""

    def __init__(self):
        self.found: list[str] = []
        self.line = 0

    def visit(self, node: dict) -> None:
        for location in (node.get("loc", {}), node.get("range", {}).get("begin", {})):
            self.line = place(location).get("line", self.line)
        if node.get("kind") == "ObjCBoxedExpr" and node["type"]["qualType"] == "NSNumber *":
            operand = node["inner"][0]
            if not is_boolean_type(operand) and is_boolean(operand):
                self.found.append(f"line {self.line}: boxes a boolean as a number")
        selector = node.get("selector", "") if node.get("kind") == "ObjCMessageExpr" else ""
        if selector.startswith("numberWith") and selector != "numberWithBool:":
            if any(is_boolean(argument) for argument in node.get("inner", [])):
                self.found.append(f"line {self.line}: {selector} of a boolean")
        for child in node.get("inner", []):
            self.visit(child)


def place(location: dict) -> dict:
    return location.get("expansionLoc", location)


def is_boolean_type(node: dict) -> bool:
    kind = node.get("type", {})
    return bool({kind.get("qualType"), kind.get("desugaredQualType")} & BOOLEANS)


def is_boolean(node: dict) -> bool:
    """Whether an expression is made only of booleans and of the literals 0 and 1."""
    kind, inner = node.get("kind"), node.get("inner", [])
    if is_boolean_type(node) and kind != "ObjCBoxedExpr":
        return True
    if kind in TRANSPARENT:
        return any(is_boolean(child) for child in inner)
    if kind == "BinaryOperator":
        if node["opcode"] in LOGICAL:
            return True
        return node["opcode"] in BITWISE and all(is_boolean(child) for child in inner)
    if kind == "ConditionalOperator":
        return all(is_zero_or_one(child) or is_boolean(child) for child in inner[1:])
    return False


def is_zero_or_one(node: dict) -> bool:
    return node.get("kind") == "IntegerLiteral" and node.get("value") in ("0", "1")
