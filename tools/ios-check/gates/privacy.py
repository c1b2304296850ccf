"""
The privacy manifest declares the required-reason API that the compiled objects refer to, no less and no more.

The list is Apple's "Describing use of required reason API": C functions and constants by symbol, properties by
selector.
"""

from __future__ import annotations

import plistlib

from kit import BUILD, CLANG, IOS, Case, ios_flags, own_objects, run
from objects import references

MANIFEST = IOS / "PrivacyInfo.xcprivacy"
PREFIX = "NSPrivacyAccessedAPICategory"
REQUIRED_REASON = {
    "FileTimestamp": """
        stat fstat lstat fstatat getattrlist fgetattrlist getattrlistat getattrlistbulk NSFileCreationDate
        NSFileModificationDate
        NSURLContentModificationDateKey NSURLCreationDateKey -creationDate -modificationDate -fileModificationDate
    """,
    "SystemBootTime": "mach_absolute_time -systemUptime",
    "DiskSpace": """
        statfs fstatfs statvfs fstatvfs getattrlist fgetattrlist getattrlistat NSFileSystemFreeSize NSFileSystemSize
        NSURLVolumeAvailableCapacityKey NSURLVolumeAvailableCapacityForImportantUsageKey
        NSURLVolumeAvailableCapacityForOpportunisticUsageKey NSURLVolumeTotalCapacityKey
    """,
    "ActiveKeyboards": "-activeInputModes",
    "UserDefaults": "NSUserDefaults",
}

SELF_TEST = {
    "FileTimestamp": 'struct stat s; stat("/", &s);',
    "SystemBootTime": "(void)NSProcessInfo.processInfo.systemUptime;",
    "DiskSpace": 'struct statfs s; statfs("/", &s);',
    "UserDefaults": "(void)NSUserDefaults.standardUserDefaults;",
}


def check() -> list[Case]:
    manifest = plistlib.loads(MANIFEST.read_bytes())
    entries = manifest.get("NSPrivacyAccessedAPITypes", [])
    used = set().union(*(categories(references(item)) for item in own_objects()))
    return [
        Case("declares what is used, and nothing else", compare(entries, used)),
        Case("gives a reason for each", reasons(entries)),
        Case("does not track", tracking(manifest)),
        *(check_self(category, code) for category, code in SELF_TEST.items()),
        Case(
            "sees a manifest that declares too much",
            seen(compare([{"NSPrivacyAccessedAPIType": PREFIX + "DiskSpace"}], set())),
        ),
        Case("sees a manifest that declares too little", seen(compare([], {"DiskSpace"}))),
    ]


def categories(names: set[str]) -> set[str]:
    return {category for category, listed in REQUIRED_REASON.items() if names & set(listed.split())}


def compare(entries: list[dict], used: set[str]) -> str | None:
    declared = {entry["NSPrivacyAccessedAPIType"].removeprefix(PREFIX) for entry in entries}
    lines = [f"{name}: used, not declared" for name in sorted(used - declared)]
    lines += [f"{name}: declared, not used" for name in sorted(declared - used)]
    return "\n".join(lines) or None


def reasons(entries: list[dict]) -> str | None:
    without = [
        entry["NSPrivacyAccessedAPIType"] for entry in entries if not entry.get("NSPrivacyAccessedAPITypeReasons")
    ]
    return ", ".join(without) or None


def tracking(manifest: dict) -> str | None:
    quiet = manifest.get("NSPrivacyTracking") is False and manifest.get("NSPrivacyTrackingDomains") == []
    return None if quiet else "NSPrivacyTracking must be false, without domains"


def check_self(category: str, code: str) -> Case:
    item = BUILD / f"self-test-privacy-{category}.o"
    unit = (
        f"#import <Foundation/Foundation.h>\n#include <sys/stat.h>\n#include <sys/mount.h>\nvoid test() {{ {code} }}\n"
    )
    done = run([CLANG, *ios_flags(), "-w", "-c", "-", "-o", item], input=unit)
    if done.returncode != 0:
        return Case(f"sees {category}", done.stderr)
    return Case(f"sees {category}", seen(category in categories(references(item)) or None))


def seen(finding) -> str | None:
    return None if finding else "found nothing"
