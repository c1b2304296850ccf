/** An event of almost the largest size with one string, as its page shows it. */
import { randomBytes } from "node:crypto";
import { authorized, send, transport } from "../../../e2e/support/client.ts";
import type { BrowserContext } from "../../../tools/browser/chromium.ts";
import type { FilledServer } from "../filled-server.ts";
import { median } from "../median.ts";
import { addStopwatch, type Shown, timePress } from "./stopwatch.ts";

const CHARACTERS = 250 * 1_024;
const ROUNDS = 7;

/** What a person presses on the page of the event, one after the other, and what is then there. */
const STEPS = {
  "its observations": ["Open the observations", `document.querySelector(".strip")`],
  "the whole string": ["show all", `!document.querySelector("main").textContent.includes("show all")`],
  "its exact bytes": ["Read them under case", `document.querySelector(".exact")`],
} as const;

/** @param openCase opens a case of the person who is signed in, for the account. @returns medians, and longest tasks. */
export async function measureLongString(
  context: BrowserContext,
  { adminUrl, target }: FilledServer,
  openCase: () => Promise<unknown>,
): Promise<ReadonlyMap<string, Shown>> {
  const eventId = await sendLongString(target);
  await openCase();
  const measured = new Map<string, Shown[]>();
  for (let round = 0; round < ROUNDS; round++) {
    const page = await context.newPage();
    await addStopwatch(page);
    await page.goto(`${adminUrl}/events/${eventId}`);
    await page.getByText("under case").waitFor();
    for (const [what, [button, isShown]] of Object.entries(STEPS)) {
      measured.set(what, [...(measured.get(what) ?? []), await timePress(page, button, isShown)]);
    }
    await page.close();
  }
  return new Map(
    [...measured].map(([what, all]) => [
      what,
      {
        ms: median(all.map(({ ms }) => ms)),
        longestTaskMs: Math.max(...all.map(({ longestTaskMs }) => longestTaskMs)),
      },
    ]),
  );
}

async function sendLongString({ url, account, token, actionId }: FilledServer["target"]): Promise<string> {
  const who = { account, token, actionId, actionType: "payment", sessionId: "long" };
  const request = transport(who);
  const appName = randomBytes(CHARACTERS).toString("base64url").slice(0, CHARACTERS);
  request.observations["probes"] = { application: { status: "success", data: { appName } } };
  const { status, text, json } = await send({ url, headers: authorized(who), body: JSON.stringify(request) });
  if (status !== 201) throw new Error(text);
  return String(json["event_id"]);
}
