/** Tests of the folder of time stamps, which an authority over HTTP fills. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import {
  type Authority,
  makeAuthority,
  type ServedAuthority,
  serveAuthority,
} from "./log/time-stamp-authority.fixture.ts";
import { timeStampQuery } from "./log/time-stamp.ts";
import { TimeStamps } from "./time-stamps.ts";

const folder = useFolder();
const HOUR_MS = 3_600_000;
const START = Date.parse("2027-01-31T08:00:00Z");
const at = (hours: number): Date => new Date(START + hours * HOUR_MS);

let authority: Authority;
let served: ServedAuthority;
let directory: string;
let count = 0;

beforeAll(async () => {
  authority = await makeAuthority(folder());
  served = await serveAuthority(authority.reply);
});
afterAll(() => served.close());
beforeEach(() => {
  directory = `${folder()}/stamps-${++count}`;
  [served.answer, served.asked] = [authority.reply, 0];
});

const openStamps = (timeoutMs = 30_000): Promise<TimeStamps> =>
  TimeStamps.open({ url: served.url, directory, caFile: authority.caFile, timeoutMs });

it("the first checkpoint of each hour gets one time stamp, even after a restart", async () => {
  const stamps = await openStamps();
  await stamps.stamp("first", at(0));
  await stamps.stamp("second", at(0.5));
  await (await openStamps()).stamp("third", at(0.6));
  await stamps.stamp("fourth", at(1));
  expect(served.asked).toBe(2);
  const stamp = { at: expect.any(Date) as Date };
  expect(await stamps.read()).toEqual([
    { name: "2027-01-31T08", note: "first", stamp },
    { name: "2027-01-31T09", note: "fourth", stamp },
  ]);
  const reply = await readFile(`${directory}/2027-01-31T08.tsr`);
  expect(await authority.accepts(Buffer.from("first"), reply)).toBe(true);
});

it("an authority that is away for an hour is asked once a minute, and then stamps the latest checkpoint", async () => {
  const stamps = await openStamps();
  served.answer = () => Promise.reject(new Error("away"));
  await expect(stamps.stamp("first", at(0))).rejects.toThrow("the time-stamp authority gave no reply");
  await stamps.stamp("second", new Date(START + 59_000));
  expect(served.asked).toBe(1);
  await expect(stamps.stamp("third", at(0.9))).rejects.toMatchObject({ name: "Unavailable" });
  served.answer = authority.reply;
  await stamps.stamp("fourth", at(1));
  expect((await stamps.read()).map(({ note }) => note)).toEqual(["fourth"]);
});

it("a query ends at its deadline", async () => {
  served.answer = undefined;
  await expect((await openStamps(50)).stamp("first", at(0))).rejects.toThrow("gave no reply");
});

it("the folder keeps no reply that proves nothing, and reports a reply that was replaced", async () => {
  const stamps = await openStamps();
  const wrong: Readonly<Record<string, (query: Buffer) => Promise<Buffer>>> = {
    "of another message": () => authority.reply(timeStampQuery(Buffer.from("another"), Buffer.alloc(16, 1))),
    "of another query": () => authority.reply(timeStampQuery(Buffer.from("first"), Buffer.alloc(16, 1))),
    "granted no": async () => Buffer.from("no time stamp"),
    "gave no reply": async () => Buffer.alloc(100_000),
  };
  for (const [index, [problem, answer]] of Object.entries(wrong).entries()) {
    served.answer = answer;
    await expect(stamps.stamp("first", at(index + 1)), problem).rejects.toThrow(problem);
  }
  expect(await readdir(directory).catch(() => [])).toEqual([]);
  served.answer = authority.reply;
  await stamps.stamp("first", at(9));
  await writeFile(`${directory}/2027-01-31T17.checkpoint`, "another");
  expect(await stamps.read()).toMatchObject([{ stamp: { problem: "it is of another message" } }]);
});

it("certificates that can't be read prevent the start", async () => {
  await writeFile(`${folder()}/empty.pem`, "no certificate");
  for (const caFile of [`${folder()}/empty.pem`, `${folder()}/missing.pem`]) {
    const opening = TimeStamps.open({ url: served.url, directory, caFile, timeoutMs: 50 });
    await expect(opening).rejects.toMatchObject({ code: "time-stamps-unusable" });
  }
});
