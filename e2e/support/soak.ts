/** How many rounds a test makes: few in `npm test`, many in `npm run soak` (vitest.soak.config.ts). */
export const rounds = (short: number, long: number): number => (process.env["SOAK"] === "1" ? long : short);
