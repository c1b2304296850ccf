"""
Checks that the probes read exactly the fields that the catalog has for iOS and that native code must read, and exactly
the sources of the interface that iOS has.
"""

from __future__ import annotations

import json
import re

from kit import IOS, PACKAGE, Case

OPENAPI = PACKAGE.parent / "contract/schema/openapi.json"
INTERFACE = PACKAGE / "src/native/native-interface.ts"
JUDGEMENTS = PACKAGE / "src/judgement"

# Files in which TypeScript concludes fields from evidence.
JUDGED = {
    "os_integrity": "os-integrity-ios.ts",
    "network": "network-ios.ts",
    "application": "application-ios.ts",
    "media_bluetooth_apps": "media-bluetooth-apps-ios.ts",
    "numeric_consistency": "numeric-consistency.ts",
}
# The schema requires a field of this probe on both platforms, but the SDK skips the probe on iOS.
ANDROID = {"os_integrity_frida_scan"}
# Fields that JavaScript observes, by name.
OBSERVED = {"runtime": r".*", "runtime_timing": r"(js|eventLoop|bridge)\w+", "os_integrity": r"developerModeEnabled"}


def check() -> list[Case]:
    wanted = {probe: fields(probe, schema) for probe, schema in probes().items() if probe not in ANDROID}
    # Only the table in Probes.mm links a probe to its code, so fields are searched for in all probes together.
    expected = set().union(*wanted.values())
    answered = set(re.findall(r'field:@"(\w+)"', sources_text()))
    return [
        Case("every field of the catalog is read", listed(expected - answered)),
        Case("no other field is", listed(answered - expected)),
        Case("every probe has its entry", listed({probe for probe in wanted if wanted[probe]} - entries())),
        Case("every source of iOS is gathered", listed(ios_sources() - gathered())),
        Case("no other source is", listed(gathered() - ios_sources())),
    ]


def listed(names: set[str]) -> str | None:
    return ", ".join(sorted(names)) or None


def sources_text() -> str:
    return "\n".join(path.read_text(encoding="utf8") for path in sorted((IOS / "probes").glob("*.mm")))


def probes() -> dict[str, dict]:
    def find(node) -> dict | None:
        if isinstance(node, dict):
            if "os_integrity" in node and "hardware" in node:
                return node
            node = list(node.values())
        return next((found for child in node if (found := find(child))), None) if isinstance(node, list) else None

    return find(json.loads(OPENAPI.read_text(encoding="utf8")))


def data_of(schema: dict) -> dict:
    success = next(outcome for outcome in schema["oneOf"] if "data" in outcome.get("properties", {}))
    return success["properties"]["data"]["properties"]


def fields(probe: str, schema: dict) -> set[str]:
    on_ios = {name for name, field in data_of(schema).items() if "ios" in field.get("x-platforms", [])}
    file = JUDGED.get(probe)
    text = (JUDGEMENTS / file).read_text(encoding="utf8") if file else ""
    judged = set(re.findall(r"^ {2,4}(\w+): ", text, re.M))
    return {name for name in on_ios - judged if not re.fullmatch(OBSERVED.get(probe, ""), name)}


def entries() -> set[str]:
    return set(re.findall(r'\{@"(\w+)", \{', (IOS / "probes/Probes.mm").read_text(encoding="utf8")))


def ios_sources() -> set[str]:
    """
    Members of the interface for sources that iOS has. A comment is about all members up to the next comment. If only
    Android has them, the comment ends with `Android.`.
    """
    text = INTERFACE.read_text(encoding="utf8")
    text = text[text.index("export interface Sources") :]
    found, comment = set(), ""
    for said, member in re.findall(r"/\*\*(.*?)\*/|^  readonly (\w+):", text[: text.index("\n}")], re.S | re.M):
        if member and not comment.endswith("Android."):
            found.add(member)
        comment = comment if member else " ".join(said.split())
    return found


def gathered() -> set[str]:
    text = (IOS / "probes/Sources.mm").read_text(encoding="utf8")
    return set(re.findall(r'(?:lookAt\(reading, |\[reading source:)@"(\w+)"', text))
