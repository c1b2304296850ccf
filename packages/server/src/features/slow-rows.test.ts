/** Verifies and attests rows of a definition that takes too long for some events. */
import { writeFile } from "node:fs/promises";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { advanceClock } from "../../../../e2e/support/test-clock.ts";
import { runWithBreakGlass } from "../../../../e2e/support/command.ts";
import type { PastEvent } from "../../../../e2e/support/past-event.ts";
import { REASON, useFeatureScene } from "../http/admin/feature-scene.fixture.ts";
import { attestationSigner } from "../runtime/attestation-signer.ts";
import { attestNext } from "./attest.ts";
import { extractNext } from "./extraction-worker.ts";
import { LayerRunners } from "./layer-runners.ts";
import { createParserOf } from "./read-inputs.ts";
import { slowTimeOf, type Verified, verifyValues } from "./verify-values.ts";

const scene = useFeatureScene();
const { opened } = scene;
const events: PastEvent[] = [];

/** Takes some hundred milliseconds if `suBinaryFound` was observed `false`. */
const SOMETIMES_SLOW =
  "({ su }) => { if (su.value === false) for (let i = 0; i < 5e8; i++); return su.state === 'observed' ? su.value : null }";
const LAYER = 2;

function runnersWith(options: ConstructorParameters<typeof LayerRunners>[0]): LayerRunners {
  const runners = new LayerRunners(options);
  onTestFinished(() => runners.close());
  return runners;
}

beforeAll(async () => {
  const sometimes = bundleOf(SOMETIMES_SLOW, { id: "sometimes_slow", purposes: ["default"] });
  const cases = [{ name: "found", inputs: { su: { observed: true } }, result: { observed: true } }];
  const file = scene.fileIn("slow.json");
  await writeFile(file, JSON.stringify([{ ...sometimes, fixtures: { cases } }]));
  await scene.drs("feature", "propose", file, ...REASON);
  await scene.drs("feature", "adopt", "sometimes_slow@1", "--purpose", "default", ...REASON);
  for (const value of [true, false, true, false, true]) events.push(await scene.store("slow", value));
  const { pool, sealer, featureSealer } = opened.system;
  const onError = (error: unknown): void => expect.unreachable(String(error));
  const runners = new LayerRunners({ budgetMs: 60_000 });
  const ports = { pool, sealer, featureSealer, onError, runners, parserOf: createParserOf(onError) };
  while (await extractNext(ports));
  await runners.close();
});

const verify = (runners: LayerRunners, limitMs?: number): Promise<Verified> =>
  verifyValues(opened.system.pool, { ...opened.system, runners, slowTime: slowTimeOf(limitMs) }, events);

it.each([
  ["exceeds its time", { budgetMs: 100 }],
  ["ends its process", { budgetMs: 5 }],
])("a verification compares the rows behind an event for which a definition %s", async (_, options) => {
  expect(await verify(runnersWith(options))).toMatchObject({ rows: 10, equal: 8, different: 0, undecided: 2 });
});

it("a verification stays within a limit for the time of slow events, and leaves the rows after them undecided", async () => {
  const runners = runnersWith({ budgetMs: 10 });
  // A slow event takes more than this limit. An event that a busy machine made slow takes less.
  expect(await verify(runners, 50)).toMatchObject({ rows: 10, equal: 6, different: 0, undecided: 4 });
  expect(await verify(runners), "the next verification has its own limit").toMatchObject({ equal: 8, undecided: 2 });
});

it("a verification does not compare what failed because of its time when it was stored", async () => {
  const slow = await scene.store("slow-too", false);
  const runners = runnersWith({});
  const onError = (): void => {};
  const ports = { ...opened.system, runners, onError, parserOf: createParserOf(onError) };
  while (await extractNext(ports));
  const patient = { ...opened.system, runners: runnersWith({ budgetMs: 60_000 }), slowTime: slowTimeOf() };
  expect(await verifyValues(opened.system.pool, patient, [slow])).toMatchObject({
    equal: 1,
    different: 0,
    undecided: 1,
  });
});

it("a verification computes no row that failed because of its time, and so compares the rows of other accounts", async () => {
  const [slow, other] = [await scene.store("slow-three", false), await scene.store("other", true)];
  const runners = runnersWith({});
  const onError = (): void => {};
  const extraction = { ...opened.system, runners, onError, parserOf: createParserOf(onError) };
  while (await extractNext(extraction));
  const ports = { ...opened.system, runners: runnersWith({ budgetMs: 10 }), slowTime: slowTimeOf(50) };
  expect(await verifyValues(opened.system.pool, ports, [slow, other])).toMatchObject({ equal: 3, undecided: 1 });
  expect(ports.slowTime.spentMs).toBe(0);
});

it("`drs feature verify` compares the rows behind a slow event", async () => {
  const { stdout } = await runWithBreakGlass(opened.environment, "feature", "verify");
  expect(stdout).toContain("16 rows of values: 12 equal, 0 different, 4 undecided");
});

it("an attestation attests the rows behind a slow event", async () => {
  await advanceClock(opened.environment, 29.5 * 86_400_000);
  const sign = attestationSigner(opened.system);
  const ports = { ...opened.system, sign, runners: runnersWith({ budgetMs: 10 }) };
  const attested = async (): Promise<unknown[]> =>
    (await opened.owner.query("select rows::int, equal::int from attestation where layer = $1", [LAYER])).rows;
  const ending = new AbortController();
  const interrupted = attestNext(ports, { signal: ending.signal });
  ending.abort(new Error("closing"));
  await expect(interrupted).rejects.toThrow("closing");
  expect(await attested(), "an attestation that is interrupted is not signed").toEqual([]);
  expect(await attestNext(ports)).toBe(true);
  expect(await attested()).toEqual([{ rows: 8, equal: 4 }]);
});
