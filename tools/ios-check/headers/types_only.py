"""Makes the header of a framework that only the second source has: C functions on opaque objects, such as Network."""

from __future__ import annotations

import re

from c_types import NONNULL, NULLABLE
from declarations import Declarations
from model import Unmapped, split_list


def type_only_header(
    framework: str, names: list[str], override: dict[str, str], declarations: Declarations, folder: str
):
    """@return the header's text, and the functions in it."""
    with open(f"{folder}/objc!{framework}.d.ts", encoding="utf8") as file:
        source = file.read()
    enums = {
        match[1]: re.findall(r"(\w+) = (-?\d+)", match[2])
        for match in re.finditer(r"declare const enum (\w+) \{(.*?)\n\}", source, re.S)
    }
    objects: set[str] = set()

    def is_wanted(name: str) -> bool:
        return any(re.fullmatch(pattern, name) for pattern in names)

    def spell(typescript: str) -> str:
        typescript = typescript.strip()
        if match := re.fullmatch(r"NSObject & OS_(\w+)(?: \| null)?", typescript):
            if match[1] != "dispatch_queue":
                objects.add(match[1])
            return f"{match[1]}_t{NULLABLE if 'null' in typescript else NONNULL} %s"
        if typescript in ("void", "boolean"):
            return {"void": "void %s", "boolean": "bool %s"}[typescript]
        if match := re.fullmatch(r"\((.*)\) => (.*)", typescript):
            parameters = [spell(part.split(":", 1)[1]) % "" for part in split_list(match[1])]
            return spell(match[2].split(" |")[0]) % f"(^{NONNULL} %s)({', '.join(parameters) or 'void'})"
        if typescript in enums:
            return typescript + " %s"
        raise Unmapped(typescript)

    def function(name: str, signature: str) -> str:
        if name in override:
            return override[name]
        match = re.fullmatch(r"declare function \w+\((.*)\): (.*);", signature)
        parameters = [
            spell(part.split(":", 1)[1]) % re.sub(r"\W", "", part.split(":")[0]) for part in split_list(match[1])
        ]
        owned = " __attribute__((ns_returns_retained))" if "_create" in name or "_copy" in name else ""
        return f"FOUNDATION_EXPORT {spell(match[2]) % (name + '(' + (', '.join(parameters) or 'void') + ')')}{owned}"

    functions = {}
    for (owner, name), found in declarations.table.items():
        is_function = (
            not owner and found.signature.startswith("declare function") and f"objc!{framework}." in found.file
        )
        if not is_function or not is_wanted(name) or ("", name) in declarations.too_new:
            continue
        try:
            functions[name] = function(name, found.signature) + declarations.availability(("", name)) + ";"
        except Unmapped:
            continue
    types = [
        f"@protocol OS_{name} <NSObject>\n@end\ntypedef NSObject<OS_{name}> * {name}_t;" for name in sorted(objects)
    ]
    for enum, values in enums.items():
        if values and is_wanted(enum):
            types.append(f"typedef enum {{ {', '.join(f'{name} = {value}' for name, value in values)} }} {enum};")
    return "\n".join(types + list(functions.values())) + "\n", sorted(functions)
