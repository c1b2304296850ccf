/** Configures the SDK on a fake host, for tests. */
import { PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import type { Configuration } from "./configuration.ts";
import { consentFor } from "./consent.ts";
import { DeviceIntelOnHost } from "./device-intel-on-host.ts";
import { fakeHost } from "./host.fixture.ts";

export const ALL = consentFor(...PROBE_IDS);
export const HARDWARE = consentFor("hardware");

export const intelOn = (host = fakeHost(), configuration: Configuration = { consent: ALL }) =>
  new DeviceIntelOnHost(configuration, () => host);

export const session = { sessionId: "session-1" };

export const settledWith = <T>(value: T, ms = 10): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, ms, value));
