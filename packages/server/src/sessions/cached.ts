import { hash } from "node:crypto";
import { type Clock, type Session, type SessionVerifier, Unavailable } from "../ports.ts";

const MOST_SESSIONS = 50_000;
const MOST_ASKED = 500;

/**
 * Remembers good tokens, by their hash, until they expire or for `maxAgeMs`, whichever is sooner: that is how long a
 * revocation may take to be felt. Bad tokens are never remembered.
 */
export function cachedVerifier(verifier: SessionVerifier, maxAgeMs: number, clock: Clock): SessionVerifier {
  const asked = new Map<string, Promise<Session | undefined>>();

  /** One question for each token at a time, and not too many in all: a flood of bad ones stays here. */
  function ask(name: string, token: string): Promise<Session | undefined> {
    const standing = asked.get(name);
    if (standing) return standing;
    if (asked.size >= MOST_ASKED) throw new Unavailable("too many session tokens wait to be verified");
    const answer = verifier.verify(token).finally(() => asked.delete(name));
    asked.set(name, answer);
    return answer;
  }

  const remembered = new Map<string, { readonly session: Session; readonly until: number }>();
  return {
    async verify(token) {
      const name = hash("sha256", token, "base64");
      const now = clock.now();
      const known = remembered.get(name);
      if (known && now < known.until) return known.session;
      remembered.delete(name);
      const session = await ask(name, token);
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
