import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ManifestInput } from "@device-risk-signals/features";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { Past } from "../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { type Evidence, gatherEvidence, inputsOf } from "./evidence.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
/** Codes of purposes, in the order of the policy. */
const [PAYMENTS, MARKETING] = [1, 2];

let past: Past;
beforeAll(async () => {
  await applyPolicy({});
  past = new Past(opened.system);
});
afterAll(() => past.close());

/** Applies a policy whose purposes cover the given probes. */
async function applyPolicy(coverage: object): Promise<void> {
  const file = join(folder(), "policy.yaml");
  const periods = { raw_retention: "P30D", derived_retention: "P1Y" };
  const purpose = { title: "t", legal_basis: "l", owner: "o", ...periods, ...coverage };
  const purposes = ["default", "marketing"].map((id) => ({ ...purpose, id }));
  await writeFile(file, JSON.stringify({ purposes, actions: {}, unmapped: "default" }));
  expect(await runWithBreakGlass(opened.environment, "purpose", "apply", file, "--yes")).toMatchObject({ code: 0 });
}

const inputOf = (probe: string, name: string): ManifestInput => ({
  name,
  path: [probe, name],
  type: "boolean",
  sensitivity: "low",
});

const gather = (
  input: ManifestInput,
  limits: { readonly purpose?: number; readonly maxEvents?: number } = {},
): Promise<Evidence> => {
  const { pool: executor, sealer, clock } = opened.system;
  return gatherEvidence({ executor, sealer, now: clock.now(), ...limits }, [input]);
};

const store = (sdkVersion: string, probes: object, purpose = PAYMENTS) =>
  past.store(0, { sdkVersion, purpose }, JSON.stringify({ probes, session_id: "s" }));

const success = (data: object): object => ({ os_integrity: { status: "success", data } });

const of = ({ coverage, refused }: Evidence, version: string): object => ({
  coverage: coverage.filter(({ sdk_version }) => sdk_version === version).map(({ states }) => states),
  refused: refused.filter(({ sdk_version }) => sdk_version === version).map(({ events, refused: no }) => [no, events]),
});

describe("evidence", () => {
  it("for one purpose counts the events of every purpose that ingestion would refuse", async () => {
    await store("1.0.0", success({ suBinaryFound: true }));
    await store("1.0.0", success({ suBinaryFound: "yes" }), MARKETING);
    await store("1.0.1", success({ suBinaryFound: "yes" }), MARKETING);
    const found = await gather(inputOf("os_integrity", "suBinaryFound"), { purpose: PAYMENTS });
    expect(found).toMatchObject({ events: 1, is_limited: false });
    expect(of(found, "1.0.0")).toEqual({ coverage: [{ observed: 1 }], refused: [[1, 2]] });
    expect(of(found, "1.0.1")).toEqual({ coverage: [], refused: [[1, 1]] });
  });

  it("counts what ingestion would refuse of a version, next to many newer events of another purpose", async () => {
    await store("1.1.0", success({ suBinaryFound: "yes" }));
    for (let count = 0; count < 6; count++) await store("1.1.1", success({ suBinaryFound: true }), MARKETING);
    const found = await gather(inputOf("os_integrity", "suBinaryFound"), { purpose: PAYMENTS, maxEvents: 4 });
    expect(found.is_limited).toBe(true);
    expect(of(found, "1.1.0")).toMatchObject({ refused: [[1, 1]] });
  });

  it("counts events that lack a required field, which ingestion would refuse, only where the probe succeeded", async () => {
    await store("2.0.0", success({ isDebuggerAttached: false }));
    await store("2.0.0", success({ isEmulator: false }));
    await store("2.0.0", { os_integrity: { status: "timeout" } });
    await store("2.0.0", {});
    const required = await gather(inputOf("os_integrity", "isDebuggerAttached"));
    expect(of(required, "2.0.0")).toEqual({ coverage: [{ observed: 1, omitted: 2, timeout: 1 }], refused: [[1, 4]] });
    const optional = await gather(inputOf("os_integrity", "suBinaryFound"));
    expect(of(optional, "2.0.0")).toMatchObject({ refused: [[0, 4]] });
  });

  it("does not count another type of a field beyond the catalog, which ingestion does not validate", async () => {
    await store("3.0.0", { new_probe: { status: "success", data: { found: "yes" } } });
    const found = await gather(inputOf("new_probe", "found"));
    expect(of(found, "3.0.0")).toEqual({ coverage: [{ departed: 1 }], refused: [[0, 1]] });
  });

  it("counts the states of inputs by platform and SDK version, and what ingestion would refuse", async () => {
    const sdkVersion = "9.9.9";
    for (const data of [{ suBinaryFound: true }, {}, { suBinaryFound: "yes" }]) await store(sdkVersion, success(data));
    const { pool, sealer, clock } = opened.system;
    const { manifest } = bundleOf("() => true", { id: "found", purposes: ["default"] });
    const inputs = inputsOf([manifest]);
    const found = await gatherEvidence({ executor: pool, sealer, now: clock.now() }, inputs);
    const version = { platform: "android", sdk_version: sdkVersion };
    expect(found.coverage.filter(({ sdk_version }) => sdk_version === sdkVersion)).toEqual([
      { ...version, field: "os_integrity.suBinaryFound", states: { observed: 1, omitted: 1, departed: 1 } },
    ]);
    expect(found.refused).toContainEqual({ ...version, events: 3, refused: 1 });
    await applyPolicy({ probes: ["network"] });
    const covered = await gatherEvidence({ executor: pool, sealer, now: clock.now() }, inputs);
    await applyPolicy({});
    expect(covered.coverage.find(({ sdk_version }) => sdk_version === sdkVersion)?.states).toEqual({
      masked: 2,
      omitted: 1,
    });
    expect(covered.refused, "ingestion validates what is not covered, too").toContainEqual({
      ...version,
      events: 3,
      refused: 1,
    });
  });
});
