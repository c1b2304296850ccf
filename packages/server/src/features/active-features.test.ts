/** Tests of servers that can't read the adopted features, or whose catalog lacks some of their fields. */
import { NOTHING_ADOPTED } from "@device-risk-signals/contract/catalog/adopted";
import { afterEach, describe, expect, it } from "vitest";
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import type { Executor, OwnerTransaction } from "../store/postgres/executor.ts";
import { FieldsOfFeatures } from "./active-features.ts";
import { recordAdoption, recordProposal, recordRetirement } from "./decisions.ts";

const opened = useTestSystem();
const DECIDER = { actor: "A. Analyst", via: "direct", reason: "a review" } as const;
const EVIDENCE = { days: 7, events: 0, is_limited: false, coverage: [], refused: [] };
const PURPOSE = { code: 1, id: "default" };
const KNOWN = ["os_integrity", "suBinaryFound"] as const;
const IN_FORCE_WITHIN_MS = 2_000;

type Path = readonly [string, string];

const propose = (owner: OwnerTransaction, id: string, ...paths: readonly Path[]): Promise<unknown> => {
  const typed = { type: "boolean", sensitivity: "high" } as const;
  const inputs = paths.map((path, index) => ({ name: `input${index}`, path, ...typed }));
  const bundle = bundleOf("() => true", { id, purposes: ["default"], inputs });
  return recordProposal(owner, opened.system.audit, [bundle], EVIDENCE, DECIDER);
};

const adopt = (id: string, path: Path): Promise<number> =>
  inOwnerTransaction(opened.system.administration, async (owner) => {
    await propose(owner, id, path);
    const adoption = { features: [`${id}@1`], purpose: PURPOSE, evidence: EVIDENCE, acceptsRefusals: false };
    return recordAdoption(owner, opened.system, adoption, DECIDER);
  });

/** Adopts features as a newer server does: its catalog may have fields that the catalog of this server lacks. */
const adoptByNewer = (id: string, ...paths: readonly Path[]): Promise<unknown> =>
  inOwnerTransaction(opened.system.administration, async (owner) => {
    await propose(owner, id, ...paths);
    const members = [`${id}@1`];
    await owner.query("insert into layer select coalesce(max(layer), 0) + 1, 1, $1, now() from layer", [members]);
    await owner.query(
      `insert into feature_decision (decision, kind, features, purpose, decided_by, reason, evidence)
        select max(decision) + 1, 'adopted', $1, 1, 'A. Analyst', 'a review', '{}' from feature_decision`,
      [members],
    );
  });

const retire = (id: string): Promise<unknown> =>
  inOwnerTransaction(opened.system.administration, (owner) =>
    recordRetirement(owner, opened.system.audit, { features: [`${id}@1`], purpose: PURPOSE }, DECIDER),
  );

const errors: unknown[] = [];
let fields: FieldsOfFeatures | undefined;
afterEach(async () => {
  await fields?.close();
  errors.length = 0;
});

async function open(executor: Executor = opened.system.pool): Promise<() => readonly string[]> {
  const of = await FieldsOfFeatures.open(executor, { current: NOTHING_ADOPTED }, (error) => void errors.push(error));
  fields = of;
  return () => of.current.paths.map((path) => path.join("."));
}

describe("a server", () => {
  it("whose catalog lacks a field that a newer server adopted validates the other fields", async () => {
    const paths = await open();
    await adoptByNewer("newer", KNOWN, ["os_integrity", "fieldOfANewerCatalog"]);
    await until(async () => paths().length > 0, IN_FORCE_WITHIN_MS);
    expect(paths()).toEqual([KNOWN.join(".")]);
    expect(errors).toEqual([]);
    await retire("newer");
  });

  it("that can't read the adopted features keeps the earlier ones, and has the current ones within 2 s after it can read again", async () => {
    await adopt("first", KNOWN);
    let isAway = false;
    const paths = await open({
      query: async (text, values) => {
        if (isAway) throw new Error("the database is away");
        return opened.system.pool.query(text, values as unknown[]);
      },
    });
    isAway = true;
    await adopt("second", ["os_integrity", "isEmulator"]);
    await until(async () => errors.length > 0, IN_FORCE_WITHIN_MS);
    expect(errors[0]).toMatchObject({ message: "the database is away" });
    expect(paths()).toEqual([KNOWN.join(".")]);
    isAway = false;
    await until(async () => paths().length === 2, IN_FORCE_WITHIN_MS);
    await retire("first");
    await retire("second");
  });

  it("does not start if it can't read the adopted features", async () => {
    const query = (): Promise<never> => Promise.reject(new Error("the database is away"));
    await expect(open({ query })).rejects.toThrow("the database is away");
  });
});
