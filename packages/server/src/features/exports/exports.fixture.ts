/** Adopts `root@1` and another feature in a system, and provides what tests of exports need. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { FeatureExportManifest, Role } from "@device-risk-signals/admin-api";
import { bundleOf } from "../../../../features/src/bundle.fixture.ts";
import { objects, type Printed, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import type { TestSystem } from "../../../../../e2e/support/test-system.ts";
import { useAdminListener } from "../../http/admin/admin-scene.fixture.ts";
import { DECIDER, EVIDENCE, textOfData } from "../adopt-feature.fixture.ts";
import { recordAdoption, recordProposal } from "../decisions.ts";
import { extractNext } from "../extraction-worker.ts";
import { LayerRunners } from "../layer-runners.ts";
import { createParserOf } from "../read-inputs.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import type { ExportOrder } from "./export-table.ts";

const SU = "({ su }) => su.state === 'observed' ? su.value : null";

export const words = (text: string): readonly string[] => text.split(" ");
/** The time this many hours ago. */
export const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();

/** A date that the policy allows: it keeps values for a year. */
export const EXPIRES = ago(-30 * 24).slice(0, 10);

/** An order to export the feature `root@1`. */
export const ORDER: ExportOrder = {
  purpose: 1,
  features: ["root@1"],
  clock: "received",
  format: "csv",
  attributes: [],
  inputStates: false,
  historyMs: null,
  recipient: "team",
  expiresOn: EXPIRES,
  reason: "training",
};

export interface Asked {
  readonly labels: string;
  /** The name of the file in the folder. */
  readonly out: string;
  readonly features?: string;
  readonly clock?: string;
  readonly expires?: string;
  /** Further options. */
  readonly more?: readonly string[];
}

/** Runs commands of one person through the admin API. */
export interface RemotePerson {
  readonly ask: (...args: readonly string[]) => Promise<Printed>;
  /** Runs a command that another person approves. @returns its first object */
  readonly approved: (...args: readonly string[]) => Promise<Record<string, unknown>>;
}

export interface ExportScene {
  /** Stores events. It exists after the hooks have run. */
  readonly past: () => Past;
  /** The path of a file in the folder. */
  readonly path: (name: string) => string;
  /** Stores an event. It has the field `suBinaryFound` if `found` is given. */
  readonly store: (account: string, found?: boolean, hoursAgo?: number, attributes?: object) => Promise<PastEvent>;
  /** Computes the feature values of all events that are due. */
  readonly extract: () => Promise<void>;
  readonly drs: (...args: readonly string[]) => Promise<Printed>;
  /** Runs a command that succeeds. @returns its objects */
  readonly done: (...args: readonly string[]) => Promise<Record<string, unknown>[]>;
  /** Applies a policy with the purposes `default` and `other`, whose exports may have these attributes. */
  readonly allowAttributes: (...attributes: readonly string[]) => Promise<void>;
  /** Writes a file of labels. @returns its path */
  readonly labelFile: (name: string, ...rows: readonly string[]) => Promise<string>;
  readonly exportArguments: (asked: Asked) => readonly string[];
  readonly run: (asked: Asked) => Promise<FeatureExportManifest>;
  /** The rows of an exported file. */
  readonly read: (name: string) => Promise<Record<string, unknown>[]>;
  readonly repeat: (id: string, labels: string, out: string) => Promise<Record<string, unknown> | undefined>;
  /** Runs commands of a person through the admin API. Another person approves what they request. */
  readonly through: (person: string, ...roles: readonly Role[]) => Promise<RemotePerson>;
}

/** Registers hooks that adopt the features in the system. @param folder the folder of all files. */
export function useExports(opened: TestSystem, folder: () => string): ExportScene {
  const listener = useAdminListener(() => opened.system);
  const runners = new LayerRunners();
  const parserOf = createParserOf((error) => expect.unreachable(String(error)));
  let past: Past | undefined;

  const scene: ExportScene = {
    past: () => (past ??= new Past(opened.system)),
    path: (name) => join(folder(), name),
    store(account, found, hoursAgo = 0, attributes = {}) {
      const data = found === undefined ? {} : { suBinaryFound: found };
      return scene.past().store(hoursAgo, { account, ...attributes }, textOfData(data));
    },
    async extract() {
      const { pool, sealer, featureSealer } = opened.system;
      const onError = (error: unknown): never => {
        throw error;
      };
      while (await extractNext({ pool, sealer, featureSealer, runners, parserOf, retrySeconds: 0, onError }));
    },
    drs: (...args) => runWithBreakGlass(opened.environment, ...args),
    async done(...args) {
      const run = await scene.drs(...args, "--json");
      expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
      return objects(run.stdout);
    },
    async allowAttributes(...attributes) {
      const members = { raw_retention: "P30D", derived_retention: "P1Y", export_attributes: attributes };
      const purposes = ["default", "other"].map((id) => ({ id, title: "t", legal_basis: "l", owner: "o", ...members }));
      const file = scene.path("policy.yaml");
      await writeFile(file, JSON.stringify({ purposes, actions: {}, unmapped: "default" }));
      expect(await scene.drs("purpose", "apply", file, "--yes")).toMatchObject({ code: 0 });
    },
    async labelFile(name, ...rows) {
      const file = scene.path(`${name}.csv`);
      await writeFile(file, ["account,action_id,event_id,label_time,label", ...rows, ""].join("\n"));
      return file;
    },
    exportArguments: ({ labels, out, features = "root@1", clock = "received", expires = EXPIRES, more = [] }) => [
      ...words(
        `export run --features ${features} --purpose default --clock ${clock} --format jsonl --expires ${expires}`,
      ),
      "--recipient",
      "fraud team",
      "--reason",
      "model 4711",
      "--labels",
      labels,
      "--out",
      scene.path(out),
      ...more,
    ],
    async run(asked) {
      const [manifest] = await scene.done(...scene.exportArguments(asked));
      return manifest as unknown as FeatureExportManifest;
    },
    read: async (name) => objects(await readFile(scene.path(name), "utf8")),
    async repeat(id, labels, out) {
      const order = ["--labels", labels, "--reason", "a check", "--out", scene.path(out)];
      return (await scene.done("export", "repeat", id, ...order))[0];
    },
    async through(person, ...roles) {
      const remote = { DRS_ADMIN_URL: listener.url, DRS_ADMIN_TOKEN: await listener.token(roles, { person }) };
      const ask = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(remote, ...args);
      const approved = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
        const waiting = await ask(...args);
        expect(waiting, waiting.stderr).toMatchObject({ code: 5, stdout: "" });
        const approvalId = /Approval (\S+) by privacy/.exec(waiting.stderr)?.[1] ?? "";
        const { pool, clock, approvals } = opened.system;
        const decision = { approvalId, roles: ["privacy"], decision: "approved" } as const;
        expect(await approvals.decide(pool, clock, { ...decision, person })).toBe(false);
        expect(await approvals.decide(pool, clock, { ...decision, person: "petra" })).toBe(true);
        const given = await ask(...args, "--json");
        expect(given).toMatchObject({ code: 0, stderr: "" });
        return objects(given.stdout)[0] ?? {};
      };
      return { ask, approved };
    },
  };

  beforeAll(async () => {
    await scene.allowAttributes();
    const { system } = opened;
    const bundles = ["root", "never", "others"].map((id) => bundleOf(SU, { id, purposes: ["default", "other"] }));
    await inOwnerTransaction(system.administration, (owner) =>
      recordProposal(owner, system.audit, bundles, EVIDENCE, DECIDER),
    );
    const adopt = (name: string, purpose: { code: number; id: string }): Promise<number> =>
      inOwnerTransaction(system.administration, (owner) =>
        recordAdoption(
          owner,
          system,
          { features: [name], purpose, evidence: EVIDENCE, acceptsRefusals: false },
          DECIDER,
        ),
      );
    await adopt("root@1", { code: 1, id: "default" });
    await adopt("others@1", { code: 2, id: "other" });
  });
  afterAll(async () => {
    await past?.close();
    await runners.close();
  });
  return scene;
}
