import type { ProbeId } from "@device-risk-signals/react-native";
import { setScenario } from "@device-risk-signals/react-native/jest";
import { hasSuBinary } from "../root";
import { clientFor, sendSignals } from "../send-signals";
import { collect } from "../signals";

jest.mock("expo-crypto", () => ({ getRandomBytes: require("node:crypto").randomBytes }), { virtual: true });

// @ts-expect-error: no such probe. An `any` in the published declarations would let it pass.
export const misspelt: ProbeId = "os_integrety";

const action = { id: "action-1", type: "payment", session: "session-1" };

it("the guide's code collects on the mock's phone", async () => {
  setScenario("rooted-android");
  const event = await collect(action);
  expect(hasSuBinary(event)).toBe(true);
  expect(event.probes.locale).toEqual({ status: "skipped", reason: "consent" });
});

it("the guide's code sends what it collected", async () => {
  const answer = JSON.stringify({ event_id: "event-1", created: true });
  const fetch = jest.fn().mockResolvedValue({ status: 201, headers: { get: () => null }, text: async () => answer });
  globalThis.fetch = fetch;
  const session = { token: "token", refresh: async () => "token" };
  expect((await sendSignals(clientFor(session), action)).outcome).toBe("stored");
  expect(fetch).toHaveBeenCalledTimes(1);
});
