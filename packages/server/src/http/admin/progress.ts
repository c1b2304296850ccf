/** Answers with progress: lines while a call is applied, and a last line with its result. */
import { PassThrough, type Readable } from "node:stream";
import type { AdminProblem, ProgressLine } from "@device-risk-signals/admin-api";

const REPORT_EVERY_MS = 1_000;
/** A line comes at least this often, so that no proxy closes the connection because it is idle. */
const BEAT_EVERY_MS = 10_000;

/** A call that ended with a problem. */
export interface Rejected {
  readonly status: number;
  readonly problem: AdminProblem;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The result of a call. */
export type Settled = { readonly status: 200; readonly answer: unknown } | Rejected;

/** Work that reports lines of progress, and never rejects. */
export type Work = (report: (line: string) => void) => Promise<Settled>;

/** Begins work, and streams its progress and result as lines. The work continues if the stream is destroyed. */
export function streamProgress(work: Work): Readable {
  const lines = new PassThrough();
  const write = (line: ProgressLine): void => {
    if (!lines.destroyed) lines.write(`${JSON.stringify(line)}\n`);
  };
  let reportedAt = -Infinity;
  const beat = setInterval(() => write({}), BEAT_EVERY_MS);
  void work((progress) => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    write({ progress });
  }).then((result) => {
    clearInterval(beat);
    write("problem" in result ? { status: result.status, problem: result.problem } : result);
    lines.end();
  });
  return lines;
}
