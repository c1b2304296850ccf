"""The C spelling of a Rust type of the objc2 crates."""

from __future__ import annotations

import re

from model import Sdk, Unmapped, split_list

NONNULL, NULLABLE, UNSPECIFIED = " _Nonnull", " _Nullable", " _Null_unspecified"

PRIMITIVES = {
    "c_int": "int", "c_uint": "unsigned int", "c_float": "float", "c_double": "double", "c_char": "char",
    "c_uchar": "unsigned char", "c_short": "short", "c_ushort": "unsigned short", "c_long": "long",
    "c_ulong": "unsigned long", "c_longlong": "long long", "c_ulonglong": "unsigned long long", "c_void": "void",
    "u8": "uint8_t", "i8": "int8_t", "u16": "uint16_t", "i16": "int16_t", "u32": "uint32_t", "i32": "int32_t",
    "u64": "uint64_t", "i64": "int64_t", "f32": "float", "f64": "double", "usize": "size_t", "isize": "ssize_t",
    "bool": "BOOL", "Bool": "BOOL", "Boolean": "Boolean", "NSInteger": "NSInteger", "NSUInteger": "NSUInteger",
    "Sel": "SEL", "CGFloat": "CGFloat", "()": "void", "unichar": "unichar", "NSRange": "NSRange",
    "NSComparisonResult": "NSComparisonResult", "Imp": "IMP", "OSType": "OSType", "libc::sockaddr": "struct sockaddr",
}  # fmt: skip

OBJECTS = ("ProtocolObject", "AnyObject", "AnyClass", "AnyProtocol", "DynBlock", "Self", "DispatchQueue")
SMART_POINTER = re.compile(r"(?:Retained|CFRetained|DispatchRetained|NonNull)<(.*)>|&(?:mut )?(.*)")
BLOCK = re.compile(r"DynBlock<dyn Fn\((.*?)\)(?: -> (.*))?>")
FUNCTION_POINTER = re.compile(r'(?:unsafe )?extern "C-unwind" fn\((.*)\)(?: -> (.*))?')


def tidy(rust: str) -> str:
    rust = re.sub(r" \+ '_|/\*.*?\*/", "", rust)
    rust = re.sub(r"\s+", " ", rust)
    for spaced, tight in ((r"< ", "<"), (r"\( ", "("), (r",\s*([>)])", r"\1")):
        rust = re.sub(spaced, tight, rust)
    rust = rust.replace(" >", ">").strip()
    for prefix in ("crate::", "block2::", "objc2::", "'static "):
        rust = rust.replace(prefix, "")
    return rust


class Speller:
    """
    Spells the types inside one declaration of `owner`, and records in `references` each name that it refers to: True if
    a forward declaration of the name is enough (a pointer to a class), False if its declaration must come before.
    """

    def __init__(self, sdk: Sdk, owner: str, references: dict[str, bool]):
        self.sdk, self.owner, self.references = sdk, owner, references

    def needs(self, name: str, by_name_alone: bool = False) -> None:
        self.references[name] = self.references.get(name, True) and by_name_alone

    def is_object(self, rust: str) -> bool:
        rust = tidy(rust)
        if rust.startswith(OBJECTS) or rust in ("ObjectType", "KeyType"):
            return True
        entity = self.sdk.entities.get(rust.split("<")[0].strip())
        if entity is None:
            return False
        return entity.kind in ("class", "cf") or (entity.kind == "alias" and self.is_object(entity["target"]))

    def spell(self, rust: str, nullability: str = NONNULL, nullable_parameters: list[bool] | None = None) -> str:
        """
        @return a declarator with `%s` where the name goes. `nullable_parameters`: of a block, from the second source.
        """
        rust = tidy(rust)
        if match := re.fullmatch(r"Option<(.*)>", rust):
            return self.spell(match[1], NULLABLE, nullable_parameters)
        if match := SMART_POINTER.fullmatch(rust):
            inner = match[1] or match[2]
            if rust[0] in "RCD" or self.is_object(inner):
                return self.spell(inner, nullability, nullable_parameters)
            return self.pointer(inner, nullability, "const " if re.fullmatch("c_(char|void)", inner) else "")
        if match := re.fullmatch(r"\*(mut|const) (.*)", rust):
            if self.is_object(match[2]):
                return self.spell(match[2], UNSPECIFIED, nullable_parameters)
            return self.pointer(match[2], UNSPECIFIED, "const " if match[1] == "const" else "")
        if match := BLOCK.fullmatch(rust):
            return self.block(match[1], match[2], nullability, nullable_parameters)
        if match := FUNCTION_POINTER.fullmatch(rust):
            parameters = [self.spell(part.split(": ", 1)[-1]) % "" for part in split_list(match[1])]
            returns = self.spell(match[2]) if match[2] else "void %s"
            return returns % f"(*{nullability} %s)({', '.join(parameters) or 'void'})"
        return self.named(rust, nullability)

    def block(self, parameters: str, returns: str | None, nullability: str, nullable: list[bool] | None) -> str:
        spelt = [
            self.spell(part, UNSPECIFIED if part.startswith("*mut") else NONNULL) for part in split_list(parameters)
        ]
        if nullable:
            for index, part in enumerate(spelt):
                known = NULLABLE if index < len(nullable) and nullable[index] else NONNULL
                if "**" not in part:
                    spelt[index] = part.replace(UNSPECIFIED, known, 1)
        result = self.spell(returns) if returns else "void %s"
        return result % f"(^{nullability} %s)({', '.join(part % '' for part in spelt) or 'void'})"

    def pointer(self, inner: str, nullability: str, const: str) -> str:
        spelt = self.spell(inner)
        is_array = any(word in inner for word in ("ObjectType", "ProtocolObject", "KeyType"))
        if is_array and self.is_object(inner.replace("NonNull<", "").replace(">", "")):
            spelt = spelt.replace(" %s", " const %s")
        return const + spelt % f"*{nullability} %s"

    def named(self, rust: str, nullability: str) -> str:
        if match := re.fullmatch(r"ProtocolObject<dyn (\w+)>", rust):
            protocol = "NSObject" if match[1] == "NSObjectProtocol" else match[1]
            self.needs(protocol, by_name_alone=True)
            return f"id<{protocol}>{nullability} %s"
        fixed = {
            "Self": "instancetype",
            "AnyObject": "id",
            "AnyClass": "Class",
            "AnyProtocol": "Protocol *",
            "DispatchQueue": "dispatch_queue_t",
        }
        if rust in fixed:
            return f"{fixed[rust]}{nullability} %s"
        if rust in PRIMITIVES:
            return PRIMITIVES[rust] + " %s"
        owner = self.sdk.entities.get(self.owner)
        if owner and rust in owner.get("generics", []):
            return f"{rust}{nullability} %s"
        if match := re.fullmatch(r"(\w+)(?:<(.*)>)?", rust):
            return self.entity(match[1], match[2], nullability)
        raise Unmapped(rust)

    def entity(self, name: str, generics: str | None, nullability: str) -> str:
        entity = self.sdk.entities.get(name)
        if entity is None:
            raise Unmapped(name)
        if entity.kind == "class":
            self.needs(name, by_name_alone=True)
            spelt = [(self.spell(part, "") % "").strip() for part in split_list(generics or "")]
            parameters = "" if all(part == "id" for part in spelt) else f"<{', '.join(spelt)}>"
            return f"{name}{parameters} *{nullability} %s"
        if entity.kind not in ("cf", "alias", "enum", "struct"):
            raise Unmapped(name)
        self.needs(name)
        if entity.kind == "cf":
            return f"{name}Ref{nullability} %s"
        target = entity.get("target", "")
        is_pointer = target.startswith(("*mut DynBlock", "*mut block2", "Option<unsafe")) or self.is_object(target)
        return f"{name}{nullability} %s" if entity.kind == "alias" and is_pointer else f"{name} %s"
