/** Uses the API as an app in TypeScript does. */
import { createSignalClient, type FetchFunction, type SendResult } from "@device-risk-signals/host-client";
import {
  type CollectedEvent,
  consentFor,
  DeviceIntel,
  type FieldState,
  MisuseError,
  type ProbeId,
  readField,
} from "@device-risk-signals/react-native";

const intel = new DeviceIntel({
  consent: consentFor("os_integrity", "network"),
  probes: { network: { fields: { exclude: ["localIpAddresses"] } }, os_integrity: { timeoutMs: 2_000 } },
  deadlineMs: 5_000,
});

export async function collect(sessionId: string): Promise<CollectedEvent> {
  try {
    return await intel.collect({ sessionId });
  } catch (error) {
    throw error instanceof MisuseError ? new TypeError(error.problems.map(({ path }) => path).join()) : error;
  }
}

export function suBinaryFound(event: CollectedEvent): FieldState<boolean> {
  return readField(event, "os_integrity", "suBinaryFound", "android");
}

export async function send(event: CollectedEvent, fetch: FetchFunction): Promise<SendResult["outcome"]> {
  const client = createSignalClient({
    baseUrl: "https://api.example",
    fetch,
    token: async () => "token",
    sdkVersion: "0.1.0",
    platform: "android",
    randomBytes: (length) => Array.from({ length }, (_, index) => index),
  });
  return (await client.send({ action: { id: "action-1", type: "payment" }, event })).outcome;
}

// @ts-expect-error: no such probe. An `any` in the published declarations would let it pass.
export const misspelt: ProbeId = "os_integrety";
