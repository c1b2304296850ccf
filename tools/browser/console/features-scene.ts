/** A console with a field that two versions of a feature read, and that is to be reviewed again. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll } from "vitest";
import { until } from "../../../e2e/support/embedded.ts";
import { useFolder } from "../../../e2e/support/use-folder.ts";
import { bundleOf } from "../../../packages/features/src/bundle.fixture.ts";
import { type ConsoleScene, hasChromium, useConsole } from "./scene.ts";

export const PATH = "network.brandNewField";
export const EVENTS = 12;
const REASON = ["--reason", "review 4711"];
/** What a page must not run, move or hide. */
export const HOSTILE = `<img src=x onerror="document.title='run'">\u202E=cmd|'/c calc'!A1`;
export const HOSTILE_SHOWN = `<img src=x onerror="document.title='run'">\\u{202e}=cmd|'/c calc'!A1`;

/** Two versions that read the new field and give opposite values. */
const VERSIONS = [1, 2].map((version) => {
  const value = version === 1 ? "found.value" : "!found.value";
  const bundle = bundleOf(`({ found }) => found.state === 'observed' ? ${value} : null`, {
    id: "new_found",
    version,
    purposes: ["default"],
    meaning: version === 1 ? "The new field is set" : HOSTILE,
    inputs: [{ name: "found", path: PATH.split("."), type: "boolean", sensitivity: "high" }],
  });
  const found = { observed: version === 1 };
  const cases = [{ name: "set", inputs: { found: { observed: true } }, result: found }];
  return { ...bundle, fixtures: { cases } };
});

interface Layers {
  readonly due_batches: number;
}

export interface FeaturesScene {
  readonly scene: ConsoleScene;
  readonly folder: () => string;
  /** An event with values. It exists after the hooks have run. */
  readonly event: () => string;
}

export function useFeatures(): FeaturesScene {
  const scene = useConsole();
  const folder = useFolder();
  let event = "";
  const storeNew = (account: string, value: unknown): Promise<string> =>
    scene.store(account, { network: { status: "success", data: { brandNewField: value } } });
  const isComputed = async (): Promise<boolean> =>
    (JSON.parse(await scene.drs("feature", "layers", "--json")) as Layers).due_batches === 0;

  beforeAll(async () => {
    if (!hasChromium) return;
    await storeNew("before", true);
    // The fields of an event are written after some seconds, and at the end of the server.
    await scene.restart();
    await scene.drs("drift", "accept", PATH, "--type", "boolean", "--sensitivity", "low", ...REASON);
    const bundles = join(folder(), "bundles.json");
    await writeFile(bundles, JSON.stringify(VERSIONS));
    await scene.drs("feature", "propose", bundles, ...REASON);
    await scene.drs("feature", "adopt", "new_found@1", "new_found@2", "--purpose", "default", ...REASON);
    for (let count = 0; count < EVENTS; count++) event = await storeNew(`customer-${count}`, true);
    // A type that the decision did not know: the field is to be reviewed again.
    await storeNew("other-type", "true");
    await until(isComputed);
    await scene.restart();
  }, 120_000);
  return { scene, folder, event: () => event };
}
