import type { Config } from "../config/config.ts";
import type { Clock, SessionVerifier } from "../ports.ts";
import type { Executor } from "../store/database.ts";
import { cachedVerifier } from "./cached.ts";
import { opaqueTokenVerifier } from "./opaque-tokens.ts";

/** How long the revocation of a token of ours may take to be felt. */
const OPAQUE_MS = 5_000;

/** The verifiers that the configuration asks for. */
export function openSessions(_config: Config, executor: Executor, clock: Clock): SessionVerifier {
  return cachedVerifier(opaqueTokenVerifier(executor, clock), OPAQUE_MS, clock);
}
