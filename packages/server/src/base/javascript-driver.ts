/**
 * Hides the variable with which `pg` chooses its native client, which has no deadlines here, when it is loaded. `pg` has
 * no option for this, so `driver.ts` imports this module first.
 */

export const FORCE_NATIVE = "NODE_PG_FORCE_NATIVE";

/** The value of the variable. */
export const asked = process.env[FORCE_NATIVE];
delete process.env[FORCE_NATIVE];
