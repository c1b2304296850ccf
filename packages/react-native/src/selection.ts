import { factsOf, type Platform, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { JAVASCRIPT_FIELDS } from "./javascript-fields.ts";
import { JUDGEMENTS } from "./judgement/judgements.ts";
import { type Judgement, mergeSources } from "./judgement/judgement.ts";
import type { Sources } from "./native/native-interface.ts";

/** What supplies each selected field of a probe on one platform: native code, a judgement, or JavaScript. */
export interface Selection {
  /** All selected fields. The set is empty if none of them exists on the platform. */
  readonly fields: ReadonlySet<string>;
  /** Names of the selected fields that native code reads. */
  readonly native: readonly string[];
  /** Judgements of the selected fields that are concluded from evidence. */
  readonly judged: ReadonlyMap<string, Judgement>;
  readonly sources: Partial<Sources>;
  /** Names of the selected fields that JavaScript observes itself, or that are constants on the platform. */
  readonly javascript: ReadonlySet<string>;
}

export function select(probe: ProbeId, fields: ReadonlySet<string>, platform: Platform): Selection {
  const judgements = JUDGEMENTS[platform][probe] ?? {};
  const observed = JAVASCRIPT_FIELDS[probe];
  const all = new Set<string>();
  const native: string[] = [];
  const judged = new Map<string, Judgement>();
  const javascript = new Set<string>();
  for (const [name, facts] of factsOf(probe).fields) {
    if (!fields.has(name) || !facts.platforms.includes(platform)) continue;
    all.add(name);
    const judgement = judgements[name];
    if (judgement) judged.set(name, judgement);
    else if (observed?.includes(name) || (facts.constantOnIos && platform === "ios")) javascript.add(name);
    else native.push(name);
  }
  const sources = mergeSources([...judged.values()].map((judgement) => judgement.sources));
  return { fields: all, native, judged, sources, javascript };
}
