/** A system with an adopted feature and events of the past, for tests of feature values through the admin API. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { bundleOf } from "../../../../features/src/bundle.fixture.ts";
import { objects, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { type TestSystem, useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { extractNext } from "../../features/extraction-worker.ts";
import { LayerRunners } from "../../features/layer-runners.ts";
import { createParserOf } from "../../features/read-inputs.ts";
import { type AdminScene, useAdminListener } from "./admin-scene.fixture.ts";

export const REASON = ["--reason", "review 4711"];
const FIXTURES = { cases: [{ name: "found", inputs: { su: { observed: true } }, result: { observed: true } }] };

/** The program of `found@1`, which is adopted for the purpose `default`. */
export const FOUND = bundleOf("({ su }) => su.state === 'observed' ? su.value : null", {
  id: "found",
  purposes: ["default"],
});

export interface FeatureScene {
  readonly opened: TestSystem;
  readonly listener: AdminScene;
  readonly runners: LayerRunners;
  /** Stores events. It exists after the hooks have run. */
  readonly past: () => Past;
  /** The path of a file in the folder of the scene. */
  readonly fileIn: (name: string) => string;
  /** Runs a command that succeeds. @returns its first object */
  readonly drs: (...args: readonly string[]) => Promise<Record<string, unknown>>;
  /** Stores an event whose field `suBinaryFound` has the value. */
  readonly store: (account: string, value: unknown) => Promise<PastEvent>;
  /** Computes the feature values that are missing for stored events. */
  readonly extract: () => Promise<void>;
  /** Applies a policy whose only purpose, `default`, has these further members, such as `probes`. */
  readonly applyCoverage: (coverage: object) => Promise<void>;
}

/** The hooks of a test file open and close the scene. @param settings further settings of the system. */
export function useFeatureScene(settings: Readonly<Record<string, string>> = {}): FeatureScene {
  const folder = useFolder();
  const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal"), ...settings }));
  const listener = useAdminListener(() => opened.system);
  const runners = new LayerRunners();
  let past: Past | undefined;

  const scene: FeatureScene = {
    opened,
    listener,
    runners,
    past: () => (past ??= new Past(opened.system)),
    fileIn: (name) => join(folder(), name),
    async drs(...args) {
      const run = await runWithBreakGlass(opened.environment, ...args, "--json");
      expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
      return objects(run.stdout)[0] ?? {};
    },
    store(account, value) {
      const os_integrity = { status: "success", data: { suBinaryFound: value } };
      return scene.past().store(0, { account }, JSON.stringify({ probes: { os_integrity }, session_id: "s" }));
    },
    async extract() {
      const { pool, sealer, featureSealer } = opened.system;
      const onError = (error: unknown): void => void listener.errors.push(error);
      while (await extractNext({ pool, sealer, featureSealer, onError, runners, parserOf: createParserOf(onError) }));
    },
    async applyCoverage(coverage) {
      const file = scene.fileIn("coverage.yaml");
      const periods = { raw_retention: "P30D", derived_retention: "P1Y" };
      const purpose = { id: "default", title: "t", legal_basis: "l", owner: "o", ...periods, ...coverage };
      await writeFile(file, JSON.stringify({ purposes: [purpose], actions: {}, unmapped: "default" }));
      await scene.drs("purpose", "apply", file, "--yes");
    },
  };

  beforeAll(async () => {
    await scene.applyCoverage({});
    const file = scene.fileIn("bundles.json");
    await writeFile(file, JSON.stringify([{ ...FOUND, fixtures: FIXTURES }]));
    await scene.drs("feature", "propose", file, ...REASON);
    await scene.drs("feature", "adopt", "found@1", "--purpose", "default", ...REASON);
  });
  afterAll(async () => {
    await past?.close();
    await runners.close();
  });
  return scene;
}
