"""
Reads the generated Rust of the objc2 crates: selectors, C types, nullability, enumerators, superclasses, protocols.
"""

from __future__ import annotations

import glob
import re

from model import Member, Sdk, closing, split_list

CRATES = {
    "Foundation": "foundation",
    "CoreFoundation": "core-foundation",
    "CoreGraphics": "core-graphics",
    "CoreText": "core-text",
    "UIKit": "ui-kit",
    "CoreTelephony": "core-telephony",
    "CallKit": "call-kit",
    "LocalAuthentication": "local-authentication",
    "CoreLocation": "core-location",
    "AVFAudio": "avf-audio",
    "Metal": "metal",
    "CFNetwork": "cf-network",
    "QuartzCore": "quartz-core",
    "Security": "security",
}

METHOD = re.compile(
    r"((?:[ \t]*#\[[^\n]*\]\n|[ \t]*///[^\n]*\n)*)[ \t]*#\[unsafe\(method\(([^)]*)\)\)\]\n"
    r"((?:[ \t]*#\[[^\n]*\]\n)*)\s*(?:pub )?(?:unsafe )?fn \w+(?:<[^(]*>)?\(",
    re.M,
)
NEWTYPE = re.compile(
    r"(// NS_\w+|// \w+)?\n#\[repr\(transparent\)\][^;{]*?pub struct (\w+)\(pub (\w+)\);"
    r"(?:\nimpl \2 \{(.*?)\n\}|\nbitflags::bitflags! \{\n    impl \2: \w+ \{(.*?)\n    \}\n)?",
    re.S,
)
ENUMERATOR = re.compile(
    r'(?:#\[doc\(alias = "(\w+)"\)\]\s*)?(?:#\[deprecated[^\n]*\]\s*)?(?:pub )?const (\w+)(?:: Self)? = (.*?);', re.S
)
SELF = re.compile(r"Self(?:::(\w+)\.\w+(?:\(\))?|\(([^()]*)\))")
STRUCT = re.compile(r"#\[repr\(C\)\]\n(?:#\[[^\n]*\n)*pub struct (\w+)(?:<[^{]*>)? \{(.*?)\n\}", re.S)
STRUCT_FIELD = re.compile(r"pub (?:\(crate\) )?(\w+): ((?:[^,]|,(?!\n))*),\n")
FUNCTION = re.compile(r'extern "C-unwind" \{\s*(?:(?:#\[|///)[^\n]*\s*)*(pub )?fn (\w+)\(')


def read_crates(folder: str) -> Sdk:
    """Reads the crates that `cargo vendor` has put into `folder`."""
    sdk = Sdk()
    for framework, crate in CRATES.items():
        generated = sorted(glob.glob(f"{folder}/objc2-{crate}/src/generated/*.rs"))
        written = [path for path in glob.glob(f"{folder}/objc2-{crate}/src/*.rs") if not path.endswith("lib.rs")]
        for path in generated + written:
            with open(path, encoding="utf8") as file:
                read_file(sdk, framework, file.read())
    sdk.add("NSObject", "class", "objc", superclass=None, generics=[])
    return sdk


def read_file(sdk: Sdk, framework: str, text: str) -> None:
    read_classes(sdk, framework, text)
    read_protocols(sdk, framework, text)
    for conformance in re.finditer(r"unsafe impl(?:<[^{]*?>)? (\w+)\s+for (\w+)[^{;]*\{\s*\}", text):
        sdk.protocols.setdefault(conformance[2], []).append(conformance[1])
    for block in re.finditer(r"^impl(?:<[^{]*?>)? (\w+)(?:<[^{]*>)? \{\n    extern_methods!\(", text, re.M):
        read_methods(sdk, block[1], until(text, block.end(), "\n}\n") + "\n")
    read_enums(sdk, framework, text)
    read_structs(sdk, framework, text)
    for alias in re.finditer(r"^pub type (\w+)\s*=\s*([^;]*);", text, re.M):
        sdk.add(alias[1], "alias", framework, target=" ".join(alias[2].split()))
    for variable in re.finditer(r"pub static (\w+): ([^;]*);", text):
        sdk.add(variable[1], "variable", framework, type=" ".join(variable[2].split()))
    for constant in re.finditer(r"^pub const (\w+): (\w+) = ([^;]*);", text, re.M):
        sdk.add(constant[1], "constant", framework, type=constant[2], value=constant[3])
    read_functions(sdk, framework, text)


def until(text: str, start: int, end: str) -> str:
    return text[start : (text + end).index(end, start)]


def read_classes(sdk: Sdk, framework: str, text: str) -> None:
    for macro in re.finditer(r"extern_class!\(", text):
        body = until(text, macro.end(), "\n);\n")
        superclass = re.search(r"#\[unsafe\(super\(([^)]*)\)", body)
        declared = re.search(r"pub struct (\w+)(?:<(.*)>)?;", body, re.S)
        if not (declared and superclass):
            continue
        sdk.add(
            declared[1],
            "class",
            framework,
            superclass=split_list(superclass[1])[0].split("<")[0],
            generics=re.findall(r"(\w+): \?Sized", declared[2] or ""),
        )


def read_protocols(sdk: Sdk, framework: str, text: str) -> None:
    for macro in re.finditer(r"extern_protocol!\(", text):
        body = until(text, macro.end(), "\n);\n")
        declared = re.search(r"pub unsafe trait (\w+)\s*(?::([^{]*))?\{", body, re.S)
        if not declared:
            continue
        parents = re.findall(r"\b([A-Z]\w+)", declared[2] or "")
        parents = [name for name in parents if name not in ("Send", "Sync", "MainThreadOnly")]
        sdk.add(declared[1], "protocol", framework, parents=parents)
        read_methods(sdk, declared[1], body)


def read_methods(sdk: Sdk, owner: str, body: str) -> None:
    for method in METHOD.finditer(body):
        end = closing(body, method.end() - 1)
        returns = body[end + 1 : body.index(";", end)].split("\n    where")[0].strip().removeprefix("->").strip()
        arguments = split_list(body[method.end() : end])
        receiver = re.compile(r"(&self|&mut self|this:)")
        named = [part for part in arguments if not re.match(r"(&self|&mut self|this:|_?mtm:)", part)]
        attributes = method[1] + method[3]
        sdk.members.setdefault(owner, []).append(
            Member(
                selector=method[2],
                arguments=[tuple(side.strip() for side in part.split(":", 1)) for part in named],
                returns=" ".join((returns or "()").split()),
                instance=any(receiver.match(part) for part in arguments),
                optional="#[optional]" in attributes,
                copied="copied]" in method[1],
                weak="weak property" in method[1],
            )
        )


def read_enums(sdk: Sdk, framework: str, text: str) -> None:
    for newtype in NEWTYPE.finditer(text):
        found = ENUMERATOR.findall(newtype[4] or newtype[5] or "")

        def expression(match: re.Match) -> str:
            other = next((alias or name for alias, name, _ in found if name == match[1]), match[2] or match[1])
            return other if match[1] else match[2]

        values = [(alias or name, SELF.sub(expression, value.strip())) for alias, name, value in found]
        values = [
            (name, re.sub(r"\b0x[0-9a-fA-F_]+", lambda hex: hex[0].replace("_", ""), value)) for name, value in values
        ]
        options = bool(newtype[5]) or "OPTIONS" in (newtype[1] or "")
        sdk.add(newtype[2], "enum", framework, base=newtype[3], values=values, options=options)


def read_structs(sdk: Sdk, framework: str, text: str) -> None:
    for struct in STRUCT.finditer(text):
        if "UnsafeCell" in struct[2] or "inner: [u8; 0]" in struct[2]:
            tag = re.search(r'RefEncode<"(\w+)"> for %s[ <]' % struct[1], text)
            sdk.add(struct[1], "cf", framework, tag=tag[1] if tag else "__" + struct[1])
            continue
        fields = [(name.rstrip(), " ".join(kind.split())) for name, kind in STRUCT_FIELD.findall(struct[2] + "\n")]
        sdk.add(struct[1], "struct", framework, fields=fields)


def read_functions(sdk: Sdk, framework: str, text: str) -> None:
    for function in FUNCTION.finditer(text):
        end = closing(text, function.end() - 1)
        returns = text[end + 1 : text.index(";", end)].strip().removeprefix("->").strip() or "()"
        if not function[1]:
            # Finds the inner function of a wrapper. The wrapper's type contains the nullability.
            wrapper = re.search(r"fn %s\([^{]*?\) -> ([^{]*?) \{" % function[2], text)
            if wrapper and "Retained" in wrapper[1]:
                returns = wrapper[1]
        arguments = [
            tuple(side.strip() for side in part.split(":", 1)) for part in split_list(text[function.end() : end])
        ]
        sdk.add(function[2], "function", framework, arguments=arguments, returns=" ".join(returns.split()))
