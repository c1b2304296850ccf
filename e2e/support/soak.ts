/** Which share of the long rounds runs, from 0 to 1. `npm run soak` sets 1, and `.ci/run` sets 0.05. */
const SHARE_OF_ROUNDS = Number(process.env["SOAK"] ?? 0);

/** Number of rounds that a test makes: few in `npm test`, many in `npm run soak`. */
export const rounds = (short: number, long: number): number => Math.max(short, Math.ceil(long * SHARE_OF_ROUNDS));

/**
 * The number of rounds of a test whose long rounds run only in a full soak. With a smaller share the short rounds run.
 */
export const fullRounds = (short: number, long: number): number => (SHARE_OF_ROUNDS >= 1 ? long : short);
