import { statfs } from "node:fs/promises";
import { Unavailable } from "../ports.ts";
import { withDeadline } from "./deadline.ts";
import type { Dependencies, Health } from "./dependencies.ts";
import { limitHanging } from "./file-calls.ts";

/** The disk of the embedded cluster counts as full if it has less free space than this. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

export interface Readiness {
  readonly ready: boolean;
  /** Descriptions of problems, one line each. A server that is ready can still have problems. */
  readonly lines: readonly string[];
}

export interface ReadinessPorts {
  readonly dependencies: Dependencies;
  /** The data directory of an embedded PostgreSQL. */
  readonly clusterDirectory?: string | undefined;
}

/**
 * Asks the required dependencies whether this process can store events now. The schema is not checked, because a server
 * does not listen before its schema is up to date.
 */
export async function readiness(ports: ReadinessPorts, draining: boolean): Promise<Readiness> {
  const unanswered = await ports.dependencies.check();
  const known = await knownReadiness(ports, draining);
  const silent = unanswered.filter(({ isUp }) => isUp).map(({ title }) => `${title}: does not answer`);
  // guard(false): a dependency whose check did not end in time is a problem
  if (silent.length > 0) return { ready: false, lines: [...known.lines, ...silent] };
  return known;
}

/** Whether this process can store events, as far as it knows. */
export async function knownReadiness(
  { dependencies, clusterDirectory }: ReadinessPorts,
  draining: boolean,
): Promise<Readiness> {
  const lines: string[] = [];
  if (draining) lines.push("draining: this process is about to stop");
  const free = clusterDirectory === undefined ? undefined : await freeBytes(clusterDirectory);
  if (free !== undefined && free < MIN_FREE_BYTES) lines.push("disk: less than 256 MiB are free");
  const ready = lines.length === 0 && dependencies.canStore;
  return { ready, lines: [...lines, ...dependencies.health.flatMap(linesOf)] };
}

function linesOf({ title, problems, since = 0 }: Health): string[] {
  return problems.map((problem) => `${title}: ${problem} (since ${new Date(since).toISOString()})`);
}

const STATFS_WITHIN_MS = 1_000;
const noAnswer = (): Unavailable =>
  new Unavailable(`the disk gave no answer within ${STATFS_WITHIN_MS} ms`, { code: "dependency-silent" });
const bounded = limitHanging((call) => withDeadline({ ms: STATFS_WITHIN_MS, expired: noAnswer }, call), noAnswer);

/** Free space of the disk that holds the path; `undefined` if the disk gives no answer. */
export async function freeBytes(path: string): Promise<number | undefined> {
  return bounded(() => statfs(path)).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
}
