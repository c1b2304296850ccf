/** Tests that a command that verifies or destroys says on standard error which installation it works on. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { objects, runInFull, runWithBreakGlass, withBreakGlass } from "../support/command.ts";
import { Past } from "../support/past-event.ts";
import { useTestSystem } from "../support/test-system.ts";
import { useFolder } from "../support/use-folder.ts";

const folder = useFolder();
const scene = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const drs = (...args: readonly string[]) => runWithBreakGlass(scene.environment, ...args);
let holdId: string;
let policy: string;

/** An erased account of which a hold keeps an event, and an event that a shorter period lets expire. */
beforeAll(async () => {
  const past = new Past(scene.system);
  await past.store(1, { account: "held" });
  await past.store(30, { account: "old" });
  await past.close();
  const decided = ["--reason", "dispute 4711", "--approver", "J. Doe", "--review", "2999-01-31", "--json"];
  const [hold] = objects((await drs("hold", "add", "--account", "held", ...decided)).stdout);
  holdId = String(hold?.["hold_id"]);
  await drs("erase", "run", "--account", "held", "--reason", "request 17", "--yes");
  policy = join(folder(), "purposes.json");
  const texts = { title: "Payments", legal_basis: "6(1)(f)", owner: "Fraud" };
  const purposes = [{ id: "default", ...texts, raw_retention: "P1D", derived_retention: "P1Y" }];
  await writeFile(policy, JSON.stringify({ purposes, actions: {}, unmapped: "default" }));
});

test.each<readonly [string, () => readonly string[]]>([
  ["hold lift", () => [holdId, "--reason", "closed", "--yes"]],
  ["purpose apply", () => [policy, "--yes"]],
  ["erase run", () => ["--account", "old", "--reason", "request 18", "--yes"]],
  ["retention run", () => ["--yes"]],
  ["key destroy", () => [randomUUID(), "--yes"]],
  ["audit verify", () => []],
  ["audit prune", () => []],
  ["feature verify", () => []],
  ["feature attestation verify", () => []],
])("drs %s", async (command, rest) => {
  const args = withBreakGlass(scene.environment, [...command.split(" "), ...rest()]);
  const { stderr } = await runInFull(scene.environment, ...args);
  expect(stderr).toMatch(
    new RegExp(`^Installation ${scene.system.codec.installation}, the database postgresql://`, "m"),
  );
});
