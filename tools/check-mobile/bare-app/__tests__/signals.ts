import { setScenario } from "@device-risk-signals/react-native/jest";
import { collect, send, suBinaryFound } from "../signals";

it("the app collects on the mock's phone, and sends the event", async () => {
  setScenario("rooted-android");
  const event = await collect("session-1");
  expect(suBinaryFound(event)).toEqual({ state: "observed", value: true });
  expect(event.probes.hardware).toEqual({ status: "skipped", reason: "consent" });

  const bodies: string[] = [];
  const outcome = await send(event, (_url, { body }) => {
    bodies.push(body);
    const answer = JSON.stringify({ event_id: "event-1", created: true });
    return Promise.resolve({ status: 201, headers: { get: () => null }, text: () => Promise.resolve(answer) });
  });
  expect(outcome).toBe("stored");
  expect(JSON.parse(bodies.join())).toMatchObject({ observations: event });
});
