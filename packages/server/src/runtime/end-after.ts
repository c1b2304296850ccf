import type { Logger } from "pino";

export interface EndAfterOptions {
  readonly logger: Logger;
  /** Names of the resources that are being closed. */
  readonly closing: ReadonlySet<string>;
  /** Ends the process at once. */
  readonly kill: () => void;
}

/** Ends the process if it does not stop in time, and logs which resources hang. */
export function endAfter(ms: number, { logger, closing, kill }: EndAfterOptions): void {
  setTimeout(() => {
    logger.fatal({ hanging: [...closing] }, "did not stop in time");
    kill();
  }, ms).unref();
}
