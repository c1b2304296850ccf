import type { Judgements, JudgementsByPlatform } from "../src/judgement/judgement.ts";
import { mergeSources } from "../src/judgement/judgement.ts";
import { JUDGEMENTS } from "../src/judgement/judgements.ts";
import { readAnswer } from "../src/native/read-answer.ts";
import { answer, type EvidenceCase } from "./load.ts";

export type JudgedProbe =
  | "os_integrity"
  | "network"
  | "application"
  | "media_bluetooth_apps"
  | "transaction_safety"
  | "numeric_consistency";

/** The probes of a case that have evidence, and for which the case's platform has judgements. */
export function judgedProbes(
  { platform, answers }: EvidenceCase,
  judgements: JudgementsByPlatform = JUDGEMENTS,
): readonly (readonly [JudgedProbe, Judgements])[] {
  const probes = Object.entries(judgements[platform]) as [JudgedProbe, Judgements][];
  return probes.filter(([probe]) => answers[probe]?.evidence !== undefined);
}

/** What the judgements conclude from a probe's evidence. A field without a conclusion is `undefined`. */
export function conclude(
  subject: EvidenceCase,
  probe: string,
  judgements: Judgements,
): Readonly<Record<string, unknown>> {
  const sources = mergeSources(Object.values(judgements).map((judgement) => judgement.sources));
  const { evidence = {} } = readAnswer(answer(subject, probe, { fields: [], sources }));
  return Object.fromEntries(Object.entries(judgements).map(([name, judgement]) => [name, judgement.judge(evidence)]));
}

/**
 * A line for each judged field that differs from the case: its value is wrong or absent, it has a value although it
 * must be absent, or the case does not mention it.
 */
export function departures(subject: EvidenceCase, judgements?: JudgementsByPlatform): readonly string[] {
  return judgedProbes(subject, judgements).flatMap(([probe, own]) => {
    const concluded = conclude(subject, probe, own);
    return Object.keys(own).flatMap((field) => departure(subject, probe, field, concluded[field]));
  });
}

function departure({ expect, absent }: EvidenceCase, probe: string, field: string, found: unknown): readonly string[] {
  const isAbsent = absent[probe]?.includes(field) ?? false;
  const isExpected = Object.hasOwn(expect[probe] ?? {}, field);
  const wanted = expect[probe]?.[field];
  if (!isAbsent && !isExpected) return [`${probe}.${field}: the case has no expectation, found ${show(found)}`];
  return show(wanted) === show(found) ? [] : [`${probe}.${field}: expected ${show(wanted)}, found ${show(found)}`];
}

function show(value: unknown): string {
  return value === undefined ? "no value" : JSON.stringify(value);
}
