"""Checks that iOS exports every undefined symbol: links against text stubs with the symbols that the sources name."""

from __future__ import annotations

import glob
import json
import re
import shutil
from pathlib import Path

from kit import HEADERS, LIBRARY, OBJECTS, SDK, TRUTH, TYPES, Case, problem_of, run

# Symbols of React Native, with which a host app links.
REACT = re.compile(
    r"^(__ZN[KO]*8facebook|__ZT.N8facebook|_RCT|_OBJC_CLASS_\$__?RCT|_OBJC_(IVAR|CLASS)_\$_EventEmitter)"
)

# Symbols that the system's libraries export and that no declaration names.
COMPILER = {
    "Foundation": ["_NSLog", "_NSStringFromClass", "_NSStringFromSelector", "_NSClassFromString"],
    "CoreFoundation": ["___CFConstantStringClassReference", "_CFRelease", "_CFRetain", "_CFGetTypeID"],
}
RUNTIME = re.compile(
    r"_(_Unwind|_stack_chk|_NSConcrete|_Block|_dispatch|_error$|__error|mem|bzero|_cxa_atexit|tlv|_isPlatform|dyld_stub)"
)
LIBSYSTEM = {
    *("___isPlatformVersionAtLeast", "___isOSVersionAtLeast", "dyld_stub_binder", "_mach_task_self_"),
    *(
        "__NSConcreteGlobalBlock",
        "__NSConcreteStackBlock",
        "__dispatch_main_q",
        "___stack_chk_guard",
        "___stack_chk_fail",
    ),
}
# Variadic functions, which the derived headers can't contain.
VARIADIC = {"_open", "_fcntl", "_ioctl", "_printf", "_snprintf", "_sscanf", "_fprintf", "_syslog"}
OBJC_RUNTIME = """
objc_msgSend objc_msgSendSuper2 objc_alloc objc_alloc_init objc_opt_new objc_opt_self objc_opt_class
objc_opt_isKindOfClass
objc_opt_respondsToSelector objc_retain objc_release objc_autorelease objc_retainAutorelease objc_autoreleaseReturnValue
objc_retainAutoreleaseReturnValue objc_retainAutoreleasedReturnValue objc_unsafeClaimAutoreleasedReturnValue
objc_claimAutoreleasedReturnValue objc_storeStrong objc_storeWeak objc_initWeak objc_loadWeakRetained objc_destroyWeak
objc_copyWeak objc_moveWeak objc_retainBlock objc_autoreleasePoolPush objc_autoreleasePoolPop objc_enumerationMutation
objc_getProperty objc_setProperty_nonatomic_copy objc_setProperty_atomic objc_begin_catch objc_end_catch
objc_exception_throw
objc_exception_rethrow objc_sync_enter objc_sync_exit _objc_empty_cache objc_terminate __objc_personality_v0
""".split()


def check() -> list[Case]:
    shutil.rmtree(SDK, ignore_errors=True)
    frameworks = write_frameworks()
    write_libraries()
    objects = sorted(OBJECTS.glob("*.o"))
    undefined = run(["llvm-nm-19", "--undefined-only", "--format=just-symbols", *objects]).stdout.split()
    from_react = sorted({symbol for symbol in undefined if REACT.match(symbol)})
    done = run(
        [
            *(
                "ld64.lld-19",
                "-dylib",
                "-dead_strip_dylibs",
                "-arch",
                "arm64",
                "-platform_version",
                "ios",
                "15.1",
                "17.5",
            ),
            *("-syslibroot", SDK, "-lSystem", "-lobjc", "-lc++"),
            *(part for name in frameworks for part in ("-framework", name)),
            *(part for symbol in from_react for part in ("-U", symbol)),
            *("-o", LIBRARY, *objects),
        ]
    )
    return [Case("no symbol that iOS does not export", problem_of(done))]


def write_stub(path: Path, install_name: str, symbols: set[str] | list[str], classes: list[str] = ()) -> None:
    def quoted(names) -> str:
        return "[ " + ", ".join(f"'{name}'" for name in sorted(set(names))) + " ]"

    lines = [
        "--- !tapi-tbd",
        "tbd-version: 4",
        "targets: [ arm64-ios ]",
        f"install-name: '{install_name}'",
        "current-version: 1",
        "exports:",
        "  - targets: [ arm64-ios ]",
        *([f"    symbols: {quoted(symbols)}"] if symbols else []),
        *([f"    objc-classes: {quoted(classes)}"] if classes else []),
        "...",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


def write_frameworks() -> list[str]:
    exported = json.loads((HEADERS / "exported.json").read_text(encoding="utf8"))
    for framework, names in exported.items():
        symbols = ["_" + name for name, kind in names.items() if kind in ("function", "variable")]
        classes = [name for name, kind in names.items() if kind == "class"]
        folder = SDK / f"System/Library/Frameworks/{framework}.framework"
        install_name = f"/System/Library/Frameworks/{framework}.framework/{framework}"
        write_stub(folder / f"{framework}.tbd", install_name, symbols + COMPILER.get(framework, []), classes)
    return [name for name in exported if name != "objc"]


def write_libraries() -> None:
    library = SDK / "usr/lib"
    write_stub(library / "libSystem.tbd", "/usr/lib/libSystem.B.dylib", libsystem())
    write_stub(library / "libobjc.tbd", "/usr/lib/libobjc.A.dylib", objc(), ["NSObject"])
    write_stub(library / "libc++.tbd", "/usr/lib/libc++.1.dylib", libcxx())


def libsystem() -> set[str]:
    """Symbols that macOS exports, by Apple's own list, and that the declarations of the iOS SDK have, too."""
    mac = set(re.findall(r"'?(_[A-Za-z_][\w$]*)'?", (TRUTH / "darwin/darwin/libSystem.tbd").read_text(encoding="utf8")))
    modules = re.compile(r"objc!(_?Darwin|MachO|Dispatch|os|_DarwinFound|CommonCrypto|unwind|ObjectiveC|Block)")
    ios = set()
    for path in glob.glob(f"{TYPES}/objc!*.d.ts"):
        if modules.search(path):
            text = Path(path).read_text(encoding="utf8")
            ios |= {"_" + name for name in re.findall(r"declare (?:function|var|const) (\w+)", text)}
    return (mac & ios) | {symbol for symbol in mac if RUNTIME.match(symbol)} | (VARIADIC & mac) | LIBSYSTEM


def objc() -> set[str]:
    declared = set()
    for path in glob.glob(f"{TRUTH}/darwin/include/any-*-any/objc/*.h"):
        text = Path(path).read_text(encoding="utf8")
        declared |= set(re.findall(r"\b((?:objc|class|sel|object|method|protocol|ivar)_\w+)\s*\(", text))
    return {"_" + name for name in declared | set(OBJC_RUNTIME)}


def libcxx() -> set[str]:
    symbols = set()
    for name in ("libc++.so.1", "libc++abi.so.1"):
        listed = run(
            ["llvm-nm-19", "--dynamic", "--defined-only", "--format=just-symbols", f"/usr/lib/llvm-19/lib/{name}"]
        )
        symbols |= {"_" + symbol.split("@")[0] for symbol in listed.stdout.split()}
    return {symbol for symbol in symbols if re.match(r"_(_Z|__cxa|__gxx)", symbol)}
