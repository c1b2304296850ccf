/** The share of the long rounds to run, from 0 to 1: `npm run soak` sets 1, `.ci/run` a small one. */
const SHARE_OF_ROUNDS = Number(process.env["SOAK"] ?? 0);

/** Number of rounds that a test makes: few in `npm test`, many in `npm run soak`. */
export const rounds = (short: number, long: number): number => Math.max(short, Math.ceil(long * SHARE_OF_ROUNDS));

/** Number of rounds of a test whose long rounds are for a full soak only: a share of the soak makes the short ones. */
export const fullRounds = (short: number, long: number): number => (SHARE_OF_ROUNDS >= 1 ? long : short);
