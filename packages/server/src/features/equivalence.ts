/** Compares a program with the archived one of its version, for instance after an upgrade of a tool. */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, Manifest } from "@device-risk-signals/features";
import { isTimeLimited } from "@device-risk-signals/features/result";
import type { ProposedBundle } from "@device-risk-signals/features/archived";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { type ComparePorts, computeStored } from "./compare-versions.ts";
import { type EquivalenceEvidence, type FeatureName, findBundles, findFixtures, nameOf } from "./decisions.ts";

interface Pair {
  readonly archived: Bundle;
  readonly given: ProposedBundle;
}

/**
 * Compares programs with the archived ones of their versions, for all stored events and for the archived fixtures. A
 * program that is the archived one itself is left out.
 *
 * Because the caller chooses the programs, the answer reveals only one bit about events: it names no event, and does
 * not say which of several programs differs.
 * @param purposes codes of purposes by their ids.
 * @throws not-found for a version that is not archived. @throws state-conflict if a result, the inputs or the output of
 * a program differ, if a program is too slow for most events, or if it gives no result at all.
 */
export async function requireEquivalent(
  ports: ComparePorts,
  bundles: readonly ProposedBundle[],
  purposes: ReadonlyMap<string, number>,
): Promise<EquivalenceEvidence> {
  const archived = await findBundles(ports.executor, bundles.map(nameOf));
  const pairs = bundles
    .map((given, index): Pair => ({ given, archived: archived[index] as Bundle }))
    .filter((pair) => pair.given.hash !== pair.archived.hash);
  const problems: Problems = new Map();
  for (const { given, archived: archivedBundle } of pairs) {
    if (!readsTheSame(given.manifest, archivedBundle.manifest))
      problems.set(nameOf(given), "has other inputs or another output");
  }
  const cases = await computeFixtures(ports, pairs, problems);
  requireNone(problems);
  const { events, unreadable, isDifferent } = await computeEvents(ports, pairs, purposes);
  // guard(false): programs that differ for one stored event are not equivalent
  if (isDifferent) throw differsForEvents(pairs);
  const programs = pairs.map(({ given, archived: archivedBundle }) => {
    const name = nameOf(given);
    const computed = { events: events.get(name) ?? 0, cases: cases.get(name) ?? 0 };
    return { feature: name, hash: given.hash, archived_hash: archivedBundle.hash, ...computed };
  });
  for (const { feature, events: ofEvents, cases: ofCases } of programs) {
    if (ofEvents + ofCases === 0) problems.set(feature, "has neither events nor fixtures");
  }
  requireNone(problems);
  return { programs, unreadable };
}

type Problems = Map<FeatureName, string>;

function requireNone(problems: Problems): void {
  if (problems.size === 0) return;
  const named = [...problems].map(([name, problem]) => `${name} ${problem}`);
  throw new OperatorError(
    "state-conflict",
    ["Nothing was recorded. Programs that are not equivalent:", ...named].join("\n  "),
  );
}

function differsForEvents(pairs: readonly Pair[]): OperatorError {
  const [only, ...others] = pairs.map(({ given }) => nameOf(given));
  const which =
    others.length === 0
      ? `${only} differs for stored events, or is too slow for most of them.`
      : `At least one of ${plural(pairs.length, "program")} differs for stored events, or is too slow for most of them: give fewer programs to find it.`;
  return new OperatorError("state-conflict", `Nothing was recorded. ${which}`);
}

const readsTheSame = (given: Manifest, archived: Manifest): boolean =>
  isDeepStrictEqual(decisive(given), decisive(archived));

const decisive = ({ inputs, output }: Manifest): unknown => ({
  inputs: inputs.map((input) => ({ ...input, sensitivity: undefined })),
  output: { ...output, bins: undefined },
});

async function computeFixtures(
  { executor }: ComparePorts,
  pairs: readonly Pair[],
  problems: Problems,
): Promise<ReadonlyMap<FeatureName, number>> {
  const fixtures = await findFixtures(
    executor,
    pairs.map(({ given }) => nameOf(given)),
  );
  // Loaded here, because only few commands need the second engine.
  const { checkArchived } = await import("@device-risk-signals/features/archived");
  const counts = new Map<FeatureName, number>();
  for (const { given } of pairs) {
    const name = nameOf(given);
    const archived = fixtures.get(name);
    if (archived === undefined || problems.has(name)) continue;
    const { cases, problems: wrong } = await checkArchived(given, archived);
    counts.set(name, cases);
    if (wrong.length > 0) problems.set(name, `differs for ${plural(wrong.length, "archived fixture")}`);
  }
  return counts;
}

interface ComputedEvents {
  /** For how many events each version was computed. */
  readonly events: ReadonlyMap<FeatureName, number>;
  readonly unreadable: number;
  /** Whether two programs of a version differ for an event, or one took too long for most events. */
  readonly isDifferent: boolean;
}

/** Continues to read after a difference, so that the time of the answer does not reveal its position. */
async function computeEvents(
  ports: ComparePorts,
  pairs: readonly Pair[],
  purposes: ReadonlyMap<string, number>,
): Promise<ComputedEvents> {
  const events = new Map<FeatureName, number>();
  const decided = new Map<FeatureName, number>();
  let [unreadable, isDifferent] = [0, false];
  for (const [id, purpose] of purposes) {
    const ofPurpose = pairs.filter(({ archived }) => archived.manifest.purposes.includes(id));
    if (ofPurpose.length === 0) continue;
    const versions = ofPurpose.flatMap(({ archived, given }) => [archived, given]);
    unreadable += await computeStored(ports, versions, { purpose }, (_, results) => {
      for (const [index, { given }] of ofPurpose.entries()) {
        const [before, after] = results.slice(2 * index, 2 * index + 2);
        const name = nameOf(given);
        events.set(name, (events.get(name) ?? 0) + 1);
        // guard: an event for which the archived program is slow prevents no decision: any phone can send one
        if (!before || !after || isTimeLimited(before)) continue;
        // A program that is slow where the archived one is not would hide a difference.
        decided.set(name, (decided.get(name) ?? 0) + 1);
        if (!isDeepStrictEqual(before, after)) isDifferent = true;
      }
    });
  }
  // The number of undecided events stays secret: a program could make its time depend on their values.
  isDifferent ||= [...events].some(([name, all]) => 2 * (decided.get(name) ?? 0) < all);
  return { events, unreadable, isDifferent };
}
