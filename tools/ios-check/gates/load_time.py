"""
Checks that nothing runs when the app loads: no constructor, and no +load except the one in which React Native's macro
registers the class.
"""

from __future__ import annotations

from kit import BUILD, CLANG, Case, ios_flags, object_of, run, sources
from objects import references, sections

CONSTRUCTORS = {"__mod_init_func", "__init_offsets", "__StaticInit"}
LOADED = {"__objc_nlclslist", "__objc_nlcatlist"}
MODULE = "DeviceRiskSignals"

SELF_TEST = {
    "a constructor": ("__attribute__((constructor)) static void early(void) {}", CONSTRUCTORS),
    "a dynamic initialiser": ("int now(); int early = now();", CONSTRUCTORS),
    "+load": ("@interface Early : NSObject\n@end\n@implementation Early\n+ (void)load {}\n@end", LOADED),
}


def check() -> list[Case]:
    return (
        [check_object(source) for source in sources(".mm", ".cpp")]
        + [check_module()]
        + [check_self(name, code, wanted) for name, (code, wanted) in SELF_TEST.items()]
    )


def check_object(source) -> Case:
    item = object_of(source)
    found = sections(item) & (CONSTRUCTORS if source.stem == MODULE else CONSTRUCTORS | LOADED)
    if "-initialize" in references(item):
        found.add("+initialize")
    return Case(source.name, f"runs at load: {', '.join(sorted(found))}" if found else None)


def check_module() -> Case:
    """The module's +load must be that of the macro: RCTRegisterModule records the class and makes no instance."""
    known = "RCTRegisterModule" in references(object_of(next(s for s in sources(".mm") if s.stem == MODULE)))
    return Case("the module registers by React Native's macro", None if known else "RCTRegisterModule is not called")


def check_self(name: str, code: str, wanted: set[str]) -> Case:
    item = BUILD / "self-test-load.o"
    done = run([CLANG, *ios_flags(), "-w", "-c", "-", "-o", item], input=f"#import <Foundation/Foundation.h>\n{code}\n")
    if done.returncode != 0:
        return Case(f"sees {name}", done.stderr)
    return Case(f"sees {name}", None if sections(item) & wanted else f"saw {sections(item)}")
