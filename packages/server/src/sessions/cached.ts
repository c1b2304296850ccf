import { hash } from "node:crypto";
import type { Clock, Session, SessionVerifier } from "../ports.ts";

const MOST_SESSIONS = 50_000;

/**
 * Remembers good tokens, by their hash, until they expire or for `maxAgeMs`, whichever is sooner: that is how long a
 * revocation may take to be felt. Bad tokens are never remembered.
 */
export function cachedVerifier(verifier: SessionVerifier, maxAgeMs: number, clock: Clock): SessionVerifier {
  const remembered = new Map<string, { readonly session: Session; readonly until: number }>();
  return {
    async verify(token) {
      const name = hash("sha256", token, "base64");
      const now = clock.now();
      const known = remembered.get(name);
      if (known && now < known.until) return known.session;
      remembered.delete(name);
      const session = await verifier.verify(token);
      if (!session) return undefined;
      remembered.set(name, { session, until: Math.min(now + maxAgeMs, session.expiresAt ?? Infinity) });
      if (remembered.size > MOST_SESSIONS) {
        const [oldest = ""] = remembered.keys();
        remembered.delete(oldest);
      }
      return session;
    },
  };
}
