import { hash } from "node:crypto";
import { LimitedMap } from "../../base/caches/limited-map.ts";
import { type Clock, type Session, type SessionVerifier, Unavailable } from "../../base/ports.ts";

const MAX_SESSIONS = 50_000;
const MAX_CONCURRENT_CALLS = 500;
/**
 * The share of the free places for waiting tokens that one source may take, if the verifier calls another system.
 * Because it is a share of the free places, slow bad tokens of some dozens of sources can't block good tokens.
 */
export const SHARE_OF_SOURCE = 1 / 8;

/**
 * Remembers good tokens, by their hash, until they expire or for `maxAgeMs`, whichever is sooner: a revocation takes
 * effect within that time. Bad tokens are never remembered.
 * @param shareOfSource share of the free places for waiting tokens that one source may take. Default: no limit.
 */
export function cachedVerifier(
  verifier: SessionVerifier,
  maxAgeMs: number,
  clock: Clock,
  shareOfSource = Number.POSITIVE_INFINITY,
): SessionVerifier {
  const running = new Map<string, Promise<Session | undefined>>();
  const waiting = new Map<string, number>();

  /**
   * Makes one call for each token at a time, and a limited number of concurrent calls, so that a flood of bad tokens
   * does not overload the verifier.
   */
  function ask(name: string, token: string, source: string): Promise<Session | undefined> {
    const pending = running.get(name);
    if (pending) return pending;
    const own = waiting.get(source) ?? 0;
    const left = MAX_CONCURRENT_CALLS - running.size;
    if (left === 0 || own >= left * shareOfSource) throw new Unavailable("too many session tokens wait to be verified");
    waiting.set(source, own + 1);
    const answer = verifier.verify(token, source).finally(() => {
      running.delete(name);
      const others = (waiting.get(source) ?? 1) - 1;
      if (others === 0) waiting.delete(source);
      else waiting.set(source, others);
    });
    running.set(name, answer);
    return answer;
  }

  const remembered = new LimitedMap<{ readonly session: Session; readonly until: number }>(MAX_SESSIONS);
  return {
    async verify(token, source = "") {
      const name = hash("sha256", token, "base64");
      const now = clock.now();
      const known = remembered.get(name);
      if (known && now < known.until) return known.session;
      remembered.delete(name);
      const session = await ask(name, token, source);
      if (!session) return undefined;
      remembered.set(name, { session, until: Math.min(now + maxAgeMs, session.expiresAt ?? Infinity) });
      return session;
    },
  };
}
