/** Adopts the feature `found@1` in a system, and provides what tests of its values need. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle } from "@device-risk-signals/features";
import { afterAll, beforeAll, expect } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { runWithBreakGlass } from "../../../../e2e/support/command.ts";
import { Past, type PastEvent } from "../../../../e2e/support/past-event.ts";
import type { TestSystem } from "../../../../e2e/support/test-system.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import { DECIDER, EVIDENCE, PURPOSE, textOfData } from "./adopt-feature.fixture.ts";
import { recordAdoption, type LayerRow, listLayers, recordProposal, recordRetirement } from "./decisions.ts";
import type { Evidence } from "./evidence.ts";
import type { WorkerParts, WorkerPorts } from "./worker-ports.ts";
import { decodeFeatures, type StoredResult } from "./feature-payload.ts";
import { allFeatureRows } from "./feature-rows.ts";
import { LayerRunners } from "./layer-runners.ts";
import { createParserOf } from "./read-inputs.ts";
import { listFeatures } from "./read-features.ts";

/** The layer of `found@1`, which is active in every test. */
export const LAYER = 1;
/** A program with the value of `suBinaryFound`. */
const OBSERVED = "({ su }) => su.state === 'observed' ? su.value : null";

export function bundle(id: string, compute = OBSERVED): Bundle {
  return bundleOf(compute, { id, purposes: [PURPOSE.id] });
}

export interface FeatureValues {
  readonly runners: LayerRunners;
  /** Stores events. It exists after the hooks have run. */
  readonly past: () => Past;
  /** The errors that workers with `ports` have reported. */
  readonly errors: unknown[];
  /** Deletes the due events and the tally, and drops the errors. */
  readonly clear: () => Promise<void>;
  /** Applies a policy whose only purpose covers the given probes. */
  readonly applyPolicy: (coverage: object) => Promise<void>;
  readonly propose: (...bundles: readonly Bundle[]) => Promise<readonly string[]>;
  /** @returns the layer of the features */
  readonly adopt: (features: readonly string[], more?: { evidence?: Evidence; purpose?: string }) => Promise<number>;
  readonly retire: (...features: readonly string[]) => Promise<readonly number[]>;
  /** Stores an event whose probe `os_integrity` has these data. */
  readonly store: (account: string, data?: object) => Promise<PastEvent>;
  readonly ports: (more?: Partial<WorkerPorts & WorkerParts>) => WorkerPorts & WorkerParts;
  /** The features of an event, by layer. */
  readonly read: (event: PastEvent) => Promise<Record<number, readonly StoredResult[]>>;
  readonly layerOf: (layer: number) => Promise<LayerRow>;
  readonly failuresOf: (event: PastEvent) => Promise<unknown[]>;
  /** The status of an event's features, and its reason. */
  readonly statusOf: (event: PastEvent) => Promise<unknown>;
}

/** Registers hooks that propose and adopt the feature in the system. @param folder the folder for files of policies. */
export function useFeatureValues(opened: TestSystem, folder: () => string): FeatureValues {
  const runners = new LayerRunners();
  const errors: unknown[] = [];
  let past: Past | undefined;

  const values: FeatureValues = {
    runners,
    past: () => (past ??= new Past(opened.system)),
    errors,
    async clear() {
      await opened.owner.query("delete from extraction_due; delete from feature_tally");
      errors.length = 0;
    },
    async applyPolicy(coverage) {
      const file = join(folder(), "policy.yaml");
      const periods = { raw_retention: "P30D", derived_retention: "P1Y" };
      const purpose = { id: PURPOSE.id, title: "t", legal_basis: "l", owner: "o", ...periods, ...coverage };
      await writeFile(file, JSON.stringify({ purposes: [purpose], actions: {}, unmapped: "default" }));
      const applied = await runWithBreakGlass(opened.environment, "purpose", "apply", file, "--yes");
      expect(applied).toMatchObject({ code: 0 });
    },
    propose: (...bundles) =>
      inOwnerTransaction(opened.system.administration, (owner) =>
        recordProposal(owner, opened.system.audit, bundles, EVIDENCE, DECIDER),
      ),
    adopt: (features, { evidence = EVIDENCE, purpose = PURPOSE.id } = {}) =>
      inOwnerTransaction(opened.system.administration, (owner) => {
        const adoption = { features, purpose: { ...PURPOSE, id: purpose }, evidence, acceptsRefusals: false };
        return recordAdoption(owner, opened.system, adoption, DECIDER);
      }),
    retire: (...features) =>
      inOwnerTransaction(opened.system.administration, (owner) =>
        recordRetirement(owner, opened.system.audit, { features, purpose: PURPOSE }, DECIDER),
      ),
    store: (account, data = { suBinaryFound: true }) => values.past().store(0, { account }, textOfData(data)),
    ports: (more = {}) => ({
      pool: opened.system.pool,
      sealer: opened.system.sealer,
      featureSealer: opened.system.featureSealer,
      onError: (error) => void errors.push(error),
      retrySeconds: 0,
      runners,
      parserOf: createParserOf((error) => expect.unreachable(String(error))),
      ...more,
    }),
    async read(event) {
      const subject = { eventId: event.eventId, receivedAt: new Date(event.receivedAt) };
      const rows = await Array.fromAsync(allFeatureRows(opened.system.pool, subject));
      const found = rows.map(async ({ layer, key_id, payload }) => {
        const stored = await opened.system.featureSealer.open({ ...event, layer }, key_id, payload);
        return [layer, decodeFeatures(stored).results] as const;
      });
      return Object.fromEntries(await Promise.all(found));
    },
    layerOf: async (number) => (await listLayers(opened.system.pool)).find(({ layer }) => layer === number) as LayerRow,
    failuresOf: async ({ eventId }) =>
      (await opened.owner.query("select layer, reason from extraction_failure where event_id = $1", [eventId])).rows,
    statusOf: async ({ eventId }) =>
      (await listFeatures(opened.system.pool, { eventId }, 1)).map(({ status, reason }) => [status, reason])[0],
  };

  beforeAll(async () => {
    await values.applyPolicy({});
    await values.propose(bundle("found"));
    expect(await values.adopt(["found@1"])).toBe(LAYER);
  });
  afterAll(async () => {
    await past?.close();
    await runners.close();
  });
  return values;
}
