/**
 * The guards against false alarms, by name. What may look like a trace is a candidate; each guard demands something of it.
 * A test leaves out one guard at a time and sees a false alarm come back, so that none of them is there in vain.
 */
export type GuardName =
  | "library-names-begin"
  | "library-names-end"
  | "frames-by-package"
  | "threads-by-whole-name"
  | "glib-threads"
  | "pipes-by-whole-name"
  | "jit-memfd"
  | "jit-ashmem"
  | "driver-memory"
  | "nameless-memory"
  | "deleted-files"
  | "overlays-of-modules"
  | "sockets-by-name"
  | "listeners-only"
  | "su-by-whole-name"
  | "weak-build-values"
  | "processor-marks"
  | "farm-marks"
  | "two-markers"
  | "images-by-whole-name"
  | "frameworks-of-apps"
  | "phones-only"
  | "simulator-by-libraries"
  | "mac-by-libraries"
  | "schemes-need-a-trace"
  | "unknown-traces"
  | "tunnels-only";

/** Whether a guard is active. */
export type Guards = (name: GuardName) => boolean;

export const everyGuard: Guards = () => true;

/** What a guard demands of a candidate; nothing where the guard is left out. */
export function demand<Candidate>(
  guards: Guards,
  name: GuardName,
  admits: (candidate: Candidate) => boolean,
): (candidate: Candidate) => boolean {
  return guards(name) ? admits : () => true;
}

/** An anchor of a pattern that is a guard: without it the pattern recognises parts of words. */
export function anchored(guards: Guards, name: GuardName, anchor: string): string {
  return guards(name) ? anchor : "";
}

/** Things that have an innocent explanation, each with the guard that knows it. */
export type Explanations<Candidate> = readonly (readonly [GuardName, (candidate: Candidate) => boolean])[];

export function isExplained<Candidate>(
  guards: Guards,
  explanations: Explanations<Candidate>,
): (candidate: Candidate) => boolean {
  const active = explanations.filter(([name]) => guards(name));
  return (candidate) => active.some(([, explains]) => explains(candidate));
}
