import type { FetchFunction, FetchInit } from "@device-risk-signals/host-client";
import { AbortError, DeviceIntel, setScenario } from "@device-risk-signals/react-native/jest";
import { fireEvent, render, screen, userEvent } from "@testing-library/react-native";
import { Platform, Share } from "react-native";
import { App } from "./app";
import { CHECKLIST } from "./checklist";
import { fieldsOn, probeOf } from "./probes";

const user = userEvent.setup();

beforeEach(() => {
  jest.useFakeTimers();
  onPlatform("android");
  setScenario("clean-android");
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const onPlatform = (platform: "android" | "ios") => jest.replaceProperty(Platform, "OS", platform);
const press = async (name: string | RegExp) => await user.press(screen.getByRole("button", { name }));
const goTo = async (name: string) => await user.press(screen.getByRole("tab", { name }));
const consentOf = (title: string) => screen.getByLabelText(`Consent to ${title}`);
const setConsent = async (title: string, on: boolean) => await fireEvent(consentOf(title), "valueChange", on);
const field = (name: string) => screen.getByLabelText(new RegExp(`^${name}: `));

async function collectWithAll(fetch?: FetchFunction): Promise<void> {
  await render(<App {...(fetch && { fetch })} />);
  await press("Consent to all");
  await press("Collect");
}

/** The text that the button passes to the system's share sheet. */
async function sharedText(): Promise<string> {
  const share = jest.spyOn(Share, "share").mockResolvedValue({ action: Share.dismissedAction });
  await press("Copy or share the JSON");
  const [content] = share.mock.lastCall ?? [];
  return (content as { readonly message?: string } | undefined)?.message ?? "";
}

describe("the inspector", () => {
  it("reads nothing without consent, and shows this at each probe", async () => {
    await render(<App />);
    await press("Collect");
    expect(screen.getByText("19 skipped")).toBeOnTheScreen();
    expect(screen.getAllByText("skipped · consent").length).toBeGreaterThan(15);
    expect(screen.queryByText("success")).not.toBeOnTheScreen();
    await press(/^Hardware: skipped/);
    expect(screen.getByText("No consent: nothing was read.")).toBeOnTheScreen();
    expect(field("processorCount")).toHaveAccessibleName(/^processorCount: no value/);
  });

  it("shows values with unit and meaning, members of objects, and the duration", async () => {
    await collectWithAll();
    await press(/^Hardware: success/);
    expect(field("screenWidthPx")).toHaveTextContent(/1080 px/);
    expect(field("batteryLevel")).toHaveAccessibleName(/^batteryLevel: 0\.83 ratio\. \w+/);
    expect(field("processorCount")).toHaveTextContent(/9 count.*Logical processors/);
    await press(/^Device identity: success/);
    expect(field("model")).toHaveTextContent(/“Pixel 8”/);
    expect(field("androidBuild\\.sdkInt")).toHaveTextContent(/34 API level/);
    expect(screen.getAllByText(/^\d+\.\d ms$/)).toHaveLength(19);
  });

  it("shows an omitted field and an observed false differently", async () => {
    await collectWithAll();
    await press(/^OS integrity: success/);
    expect(field("suBinaryFound")).toHaveAccessibleName(/^suBinaryFound: false\./);
    expect(field("suBinaryFound")).not.toHaveTextContent(/omitted/);
    expect(field("fridaListenerPortFound")).toHaveAccessibleName(/^fridaListenerPortFound: omitted, not observed\./);
    expect(field("fridaListenerPortFound")).not.toHaveTextContent(/false/);
    expect(screen.getByRole("button", { name: /^OS integrity: success/ })).toHaveTextContent(
      new RegExp(`of ${fieldsOn(probeOf("os_integrity"), "android").length} fields`),
    );
  });

  it("shows constants of iOS as omitted, and leaves out fields of the other platform", async () => {
    onPlatform("ios");
    setScenario("clean-ios");
    await collectWithAll();
    await press(/^OS integrity: success/);
    expect(field("developerModeEnabled")).toHaveAccessibleName(/omitted/);
    expect(screen.queryByLabelText(/^suOnPath: /)).not.toBeOnTheScreen();
  });

  it("shows the findings on a rooted phone", async () => {
    setScenario("rooted-android");
    await collectWithAll();
    await press(/^OS integrity: success/);
    expect(field("suBinaryFound")).toHaveAccessibleName(/^suBinaryFound: true\./);
  });

  it.each([
    ["timeouts", "timeout", "The probe reached its time limit; its values are dropped."],
    ["errors", "error · native-failed", "Native code failed; its message is never sent."],
  ] as const)("the scenario %s", async (scenario, badge, meaning) => {
    setScenario(scenario);
    await collectWithAll();
    expect(screen.getAllByText(badge).length).toBeGreaterThan(10);
    await press(/^Locale: /);
    expect(screen.getByText(meaning)).toBeOnTheScreen();
  });

  it("collects for the consented probes only", async () => {
    await render(<App />);
    await setConsent("Locale", true);
    expect(consentOf("Locale")).toHaveProp("on", true);
    await press("Collect");
    expect(screen.getByText("1 success · 18 skipped")).toBeOnTheScreen();
    expect(screen.getByRole("button", { name: /^Locale: success/ })).toBeOnTheScreen();
  });

  it("drops the event if consent to its content is withdrawn", async () => {
    await collectWithAll();
    await setConsent("Hardware", false);
    expect(screen.getByText(/^Consent was withdrawn/)).toBeOnTheScreen();
    expect(screen.queryByText("Event")).not.toBeOnTheScreen();
    await press("Collect");
    expect(screen.getByRole("button", { name: /^Hardware: skipped · consent/ })).toBeOnTheScreen();
    const event = JSON.parse(await sharedText()) as { probes: Record<string, unknown> };
    expect(event.probes["hardware"]).toEqual({ status: "skipped", reason: "consent" });
  });

  it("opens a transaction window only with consent, and closes it when the consent is withdrawn", async () => {
    await render(<App />);
    const window = () => screen.getByLabelText("Observe a transaction");
    expect(window()).toBeDisabled();
    await setConsent("Transaction safety", true);
    await fireEvent(window(), "valueChange", true);
    expect(window()).toHaveProp("on", true);
    await setConsent("Transaction safety", false);
    expect(window()).toHaveProp("on", false);
    expect(window()).toBeDisabled();
  });

  it("stops a running collection", async () => {
    jest
      .spyOn(DeviceIntel.prototype, "collect")
      .mockImplementation(
        ({ signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new AbortError()))),
      );
    await render(<App />);
    await press("Collect");
    await press("Stop");
    expect(screen.getByText("Stopped. There is no event.")).toBeOnTheScreen();
    expect(screen.getByRole("button", { name: "Collect" })).toBeOnTheScreen();
  });

  it("shows what was wrong with a call", async () => {
    await render(<App />);
    await goTo("Send");
    await user.clear(screen.getByLabelText("Action session"));
    await goTo("Inspect");
    await press("Collect");
    expect(screen.getByText(/sessionId/)).toBeOnTheScreen();
  });

  it("shares exactly the event, which it also shows", async () => {
    const collect = jest.spyOn(DeviceIntel.prototype, "collect");
    await collectWithAll();
    const event = await (collect.mock.results[0]?.value as Promise<unknown>);
    expect(await sharedText()).toBe(JSON.stringify(event));
    await press("Show the JSON");
    expect(screen.getByText(JSON.stringify(event, undefined, 2))).toBeOnTheScreen();
  });
});

describe("sending", () => {
  const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
    status,
    headers: { get: (name: string) => headers[name] ?? null },
    text: () => Promise.resolve(typeof body === "string" ? body : JSON.stringify(body)),
  });
  const type = async (label: string, text: string) => await fireEvent.changeText(screen.getByLabelText(label), text);

  async function collectAndSend(fetch: FetchFunction): Promise<void> {
    await render(<App fetch={fetch} />);
    await goTo("Send");
    expect(screen.getByRole("button", { name: "Send" })).toBeDisabled();
    await type("Base URL", "https://api.example");
    await type("Session token", "a-token");
    await type("Action id", "action-1");
    await type("Action type", "payment");
    await type("Action session", "session-7");
    await goTo("Inspect");
    await press("Consent to all");
    await press("Collect");
    await goTo("Send");
    await press("Send");
  }

  it("stores the shown event for the action, and replays it with the same key and bytes", async () => {
    const sent: FetchInit[] = [];
    const fetch = jest.fn((_url: string, init: FetchInit) => {
      sent.push(init);
      const created = sent.length === 1;
      return Promise.resolve(answer(created ? 201 : 200, { event_id: "event-1", created }));
    });
    await collectAndSend(fetch);
    expect(screen.getByText("stored")).toBeOnTheScreen();
    expect(screen.getByText("Event event-1 is stored now.")).toBeOnTheScreen();
    await press("Send");
    expect(screen.getByText("replayed")).toBeOnTheScreen();
    expect(fetch.mock.lastCall?.[0]).toBe("https://api.example/api/v1/device-signal-events");
    expect(sent[1]).toEqual({ ...sent[0], signal: expect.anything() });
    expect(sent[0]?.headers["Authorization"]).toBe("Bearer a-token");
    const body = JSON.parse(sent[0]?.body ?? "") as Record<string, unknown>;
    expect(body).toMatchObject({
      action_id: "action-1",
      action_type: "payment",
      platform: "android",
      observations: { session_id: "session-7" },
    });
    await goTo("Inspect");
    expect(await sharedText()).toBe(JSON.stringify(body["observations"]));
  });

  it("shows the reason and the place of a rejection", async () => {
    const type = "urn:problem:device-risk-signals:request-invalid";
    const errors = [{ pointer: "/action_type", code: "too-long", detail: "" }];
    await collectAndSend(async () => answer(400, { type, errors }));
    expect(screen.getByText("refused · rejected")).toBeOnTheScreen();
    expect(screen.getByText("The answer was 400, request-invalid.")).toBeOnTheScreen();
    expect(screen.getByText("/action_type: too-long")).toBeOnTheScreen();
  });

  it("shows when the user can try again", async () => {
    await collectAndSend(async () => answer(503, "", { "Retry-After": "120" }));
    expect(screen.getByText("try later · busy")).toBeOnTheScreen();
    expect(screen.getByText(/again in 120 s/)).toBeOnTheScreen();
  });

  it("shows that the event can be sent later if there is no network", async () => {
    await collectAndSend(() => Promise.reject(new TypeError("Network request failed")));
    expect(screen.getByText("try later · network")).toBeOnTheScreen();
    expect(screen.getByText("There was no answer.")).toBeOnTheScreen();
  });

  it("shows wrong input without sending a request", async () => {
    const fetch = jest.fn();
    await collectWithAll(fetch);
    await goTo("Send");
    await type("Base URL", "localhost");
    await press("Send");
    expect(screen.getByText("not sent")).toBeOnTheScreen();
    expect(screen.getByText(/baseUrl must be an http\(s\) URL/)).toBeOnTheScreen();
    expect(fetch).not.toHaveBeenCalled();
  });

  it("shows a warning for an event that was collected for another session", async () => {
    await collectWithAll();
    await goTo("Send");
    await type("Action session", "another");
    expect(screen.getByText(/collected for the session session-1\. Collect again/)).toBeOnTheScreen();
  });
});

it("the checklist keeps its ticks between the screens", async () => {
  await render(<App />);
  await goTo("Checklist");
  expect(screen.getAllByRole("checkbox")).toHaveLength(CHECKLIST.length);
  for (const item of [CHECKLIST[0], CHECKLIST[1], CHECKLIST[0]]) {
    await user.press(screen.getByRole("checkbox", { name: item }));
  }
  await goTo("Inspect");
  await goTo("Checklist");
  expect(screen.getByText(new RegExp(`^1 of ${CHECKLIST.length} done`))).toBeOnTheScreen();
  for (const item of CHECKLIST) {
    const box = expect(screen.getByRole("checkbox", { name: item }));
    if (item === CHECKLIST[1]) box.toBeChecked();
    else box.not.toBeChecked();
  }
});
