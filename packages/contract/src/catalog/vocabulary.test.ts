import { describe, expect, it } from "vitest";
import { outsideVocabulary } from "./vocabulary.ts";

const event = (probe: string, data: object, rest: object = {}) => ({ ...rest, [probe]: { status: "success", data } });
const build = (sdkInt: number) => ({ device_identity: { status: "success", data: { androidBuild: { sdkInt } } } });

describe("a value that no device sends", () => {
  it.each([
    ["network", "connectionType", "WIFI"],
    ["network", "networkTransportTypes", ["wifi", "radio"]],
    ["network", "proxyPort", 0],
    ["hardware", "batteryLevel", 83],
    ["hardware", "processorCount", 4.5],
    ["application", "signingCertificateSha256", ["AB"]],
    ["locale", "keyboardLanguages", ["en_GB"]],
    ["network", "localIpAddresses", ["fe80::1c2d:3eff:fe4f:5a6b"]],
    ["network", "localIpAddresses", ["2001:db8:1:2:1c2d:3eff:fe4f:5a6b"]],
    ["network", "localIpAddresses", ["169.254.1.2"]],
  ])("is reported: %s.%s %j", (probe, field, value) => {
    const item: unknown = Array.isArray(value) ? value.at(-1) : value;
    expect(outsideVocabulary("android", event(probe, { [field]: value }))).toEqual([
      `${probe}.${field}: ${JSON.stringify(item)}`,
    ]);
  });

  it("is also a value that only the other platform sends", () => {
    expect(outsideVocabulary("ios", event("hardware", { batteryState: "not_charging" }))).toHaveLength(1);
    expect(outsideVocabulary("android", event("hardware", { batteryState: "not_charging" }))).toEqual([]);
    expect(outsideVocabulary("ios", event("network", { isMetered: true }))).toEqual([
      "network.isMetered is never filled on ios",
    ]);
  });

  it("is also any value of a field that the device's system version does not provide", () => {
    const captured = event("media_bluetooth_apps", { isScreenCaptured: false }, build(34));
    expect(outsideVocabulary("android", captured)).toEqual([
      "media_bluetooth_apps.isScreenCaptured is not provided by android 34",
    ]);
    expect(outsideVocabulary("android", { ...captured, ...build(35) })).toEqual([]);
    const socket = event("os_integrity", { magiskAbstractSocketFound: false }, build(29));
    expect(outsideVocabulary("android", socket)).toHaveLength(1);
  });

  it("is also found in a member of an object", () => {
    expect(outsideVocabulary("android", build(34.5))).toContain("device_identity.androidBuild.sdkInt: 34.5");
  });
});

it("an outcome other than success and an unknown field are never outside the vocabulary", () => {
  expect(
    outsideVocabulary("android", { network: { status: "timeout" }, later: { status: "success", data: {} } }),
  ).toEqual([]);
  expect(outsideVocabulary("android", event("network", { aLaterField: "X" }))).toEqual([]);
});
