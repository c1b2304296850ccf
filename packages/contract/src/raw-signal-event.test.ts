/** Checked by `tsc`: at run time `expectTypeOf` does nothing, so these tests fail in `npm run typecheck` only. */
import { expectTypeOf, it } from "vitest";
import type {
  AudioLatencyData,
  DeviceIdentityData,
  NetworkData,
  OsIntegrityData,
  ProbeId,
  ProbeOutcome,
  ProbeOutcomes,
  RawSignalEvent,
  TransportRequest,
} from "./index.ts";
import { validRequest } from "./wire/request.fixture.ts";

it("an outcome narrows by its status", () => {
  const read = (outcome: ProbeOutcome<NetworkData>): void => {
    // @ts-expect-error data is there after narrowing only
    void outcome.data;
    switch (outcome.status) {
      case "success":
        expectTypeOf(outcome.data).toEqualTypeOf<NetworkData>();
        return;
      case "skipped":
        expectTypeOf(outcome.reason).toEqualTypeOf<string>();
        expectTypeOf(outcome).not.toHaveProperty("data");
        return;
      case "timeout":
        expectTypeOf<keyof typeof outcome>().toEqualTypeOf<"status">();
        return;
      case "error":
        expectTypeOf(outcome.error).toEqualTypeOf<string>();
        expectTypeOf(outcome).not.toHaveProperty("data");
        return;
      default:
        expectTypeOf(outcome).toBeNever();
    }
  };
  read({ status: "timeout" });
});

it("an omitted probe is undefined, and an outcome is never null", () => {
  expectTypeOf<ProbeOutcomes["network"]>().toEqualTypeOf<ProbeOutcome<NetworkData> | undefined>();
  const { probes } = validRequest().observations;
  // @ts-expect-error a probe may be omitted
  void probes.network.status;
  expectTypeOf(probes.network?.status).toEqualTypeOf<"success" | "skipped" | "timeout" | "error" | undefined>();
});

it("an omitted field is undefined, which is not false", () => {
  expectTypeOf<NetworkData["isMetered"]>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<NetworkData["interfaceNames"]>().toEqualTypeOf<readonly string[] | undefined>();
  // @ts-expect-error omitted means left out, not set to undefined
  const data: NetworkData = { isMetered: undefined };
  void data;
});

it("a required field is always there", () => {
  expectTypeOf<AudioLatencyData["measured"]>().toEqualTypeOf<boolean>();
  expectTypeOf<OsIntegrityData["isEmulator"]>().toEqualTypeOf<boolean>();
  expectTypeOf<DeviceIdentityData["manufacturer"]>().toEqualTypeOf<string>();
  // @ts-expect-error measured is required
  const data: AudioLatencyData = {};
  void data;
});

it("probe IDs are the 19 of the catalog", () => {
  expectTypeOf<"os_integrity_frida_scan">().toExtend<ProbeId>();
  expectTypeOf<"frida">().not.toExtend<ProbeId>();
  expectTypeOf<keyof ProbeOutcomes>().toEqualTypeOf<ProbeId>();
});

it("an event is read-only and its constants are literal types", () => {
  expectTypeOf<RawSignalEvent["event_type"]>().toEqualTypeOf<"device_intel_collection">();
  expectTypeOf<RawSignalEvent["schema_version"]>().toEqualTypeOf<1>();
  expectTypeOf<TransportRequest["platform"]>().toEqualTypeOf<"android" | "ios">();
  const event = validRequest().observations;
  // @ts-expect-error an event is immutable
  event.session_id = "another";
});
