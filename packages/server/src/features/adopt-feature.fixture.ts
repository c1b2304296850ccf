/** A feature that tests adopt, and its evidence. */
import { bundleOf } from "../../../features/src/bundle.fixture.ts";
import type { System } from "../runtime/system.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import { recordAdoption, recordProposal } from "./decisions.ts";

export const DECIDER = { actor: "A. Analyst", via: "direct", reason: "a review" } as const;
export const EVIDENCE = { days: 7, events: 0, is_limited: false, coverage: [], refused: [] };
export const PURPOSE = { code: 1, id: "default" };

/** Proposes and adopts version 1 of a feature with the value of `suBinaryFound`. @returns its layer. */
export function adoptFound(system: System, id: string, purpose = PURPOSE): Promise<number> {
  const bundle = bundleOf("({ su }) => su.state === 'observed' ? su.value : null", { id, purposes: [purpose.id] });
  return inOwnerTransaction(system.administration, async (owner) => {
    await recordProposal(owner, system.audit, [bundle], EVIDENCE, DECIDER);
    const adoption = { features: [`${id}@1`], purpose, evidence: EVIDENCE, acceptsRefusals: false };
    return recordAdoption(owner, system, adoption, DECIDER);
  });
}

/** The exact text of an event whose probe `os_integrity` has these data. */
export const textOfData = (data: object): string =>
  JSON.stringify({ probes: { os_integrity: { status: "success", data } }, session_id: "s" });

/** The exact text of an event with this value of `suBinaryFound`. */
export const textOfEvent = (suBinaryFound: unknown = true): string => textOfData({ suBinaryFound });
