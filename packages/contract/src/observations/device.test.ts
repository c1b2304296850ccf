import { describe, expect, it } from "vitest";
import { deviceOf } from "./device.ts";

const eventOf = (outcome: unknown) => ({ probes: { device_identity: outcome } });
const success = (data: object) => eventOf({ status: "success", data });
const PIXEL = { manufacturer: "Google", model: "Pixel 8", systemName: "Android", systemVersion: "14" };

describe("the device of an event", () => {
  it("is its make, model and system, as far as they were observed", () => {
    expect(deviceOf(success(PIXEL))).toBe("Google Pixel 8, Android 14");
    expect(deviceOf(success({ model: "Pixel 8", systemVersion: "14" }))).toBe("Pixel 8, 14");
    expect(deviceOf(success({ systemName: "iOS", systemVersion: " " }))).toBe("iOS");
  });

  it("is nothing, if the probe gave no data or data of other types", () => {
    for (const probes of [
      {},
      eventOf({ status: "timeout" }),
      eventOf({ status: "skipped", reason: "Google" }),
      success({}),
      success({ manufacturer: 1, model: ["x"], systemName: null, systemVersion: { a: "" } }),
      { probes: null },
    ]) {
      expect(deviceOf(probes)).toBeNull();
    }
  });

  it("is short, even if a client sent long texts", () => {
    const device = deviceOf(success({ ...PIXEL, model: "😀".repeat(100_000) })) ?? "";
    expect(device).toBe(`Google ${"😀".repeat(64)}…, Android 14`);
    expect(deviceOf(success({ ...PIXEL, model: "x".repeat(64) }))).toContain(`${"x".repeat(64)}, `);
  });
});
