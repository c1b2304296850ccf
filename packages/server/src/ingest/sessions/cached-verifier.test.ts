import { describe, expect, it } from "vitest";
import { type Session, type SessionVerifier, Unavailable } from "../../base/ports.ts";
import { cachedVerifier, SHARE_OF_SOURCE } from "./cached-verifier.ts";

const MAX_SESSIONS = 50_000;

/** A cached verifier, the tokens that the inner verifier was asked for, and a clock that a test sets. */
function scene(answer: (token: string) => Session | undefined, maxAgeMs = 10_000) {
  const asked: string[] = [];
  const time = { now: 1_000_000 };
  const inner: SessionVerifier = {
    verify: async (token) => {
      asked.push(token);
      return answer(token);
    },
  };
  return { asked, time, verifier: cachedVerifier(inner, maxAgeMs, { now: () => time.now }) };
}

describe("a valid session token in the cache", () => {
  it("is verified once", async () => {
    const { asked, verifier } = scene((token) => ({ account: `of ${token}` }));
    for (let round = 0; round < 3; round++) expect(await verifier.verify("a")).toEqual({ account: "of a" });
    expect(await verifier.verify("b")).toEqual({ account: "of b" });
    expect(asked).toEqual(["a", "b"]);
  });

  it("is verified again after the maximum age, so that a revocation is noticed", async () => {
    let session: Session | undefined = { account: "a" };
    const { time, verifier } = scene(() => session);
    await verifier.verify("a");
    session = undefined;
    time.now += 9_999;
    expect(await verifier.verify("a")).toEqual({ account: "a" });
    time.now += 1;
    expect(await verifier.verify("a")).toBeUndefined();
    expect(await verifier.verify("a"), "and stays refused").toBeUndefined();
  });

  it("is not remembered past its expiry", async () => {
    const { asked, time, verifier } = scene(() => ({ account: "a", expiresAt: 1_000_500 }));
    await verifier.verify("a");
    time.now += 499;
    await verifier.verify("a");
    expect(asked).toHaveLength(1);
    time.now += 1;
    await verifier.verify("a");
    expect(asked).toHaveLength(2);
  });

  it("is forgotten if it is the oldest of too many tokens", async () => {
    const { asked, verifier } = scene((token) => ({ account: token }));
    for (let index = 0; index <= MAX_SESSIONS; index++) await verifier.verify(String(index));
    asked.length = 0;
    for (const token of [String(MAX_SESSIONS), "1", "0"]) await verifier.verify(token);
    expect(asked, "only the oldest was forgotten").toEqual(["0"]);
  });
});

describe("the cache of sessions does not remember", () => {
  it("invalid tokens", async () => {
    const issued: Session[] = [];
    const { asked, verifier } = scene(() => issued[0]);
    expect(await verifier.verify("a")).toBeUndefined();
    issued.push({ account: "a" });
    expect(await verifier.verify("a"), "issued a moment later").toEqual({ account: "a" });
    expect(asked).toHaveLength(2);
  });

  it("errors of the verifier", async () => {
    let broken = true;
    const { verifier } = scene((token) => {
      if (broken) throw new Error("down");
      return { account: token };
    });
    await expect(verifier.verify("a")).rejects.toThrow("down");
    broken = false;
    expect(await verifier.verify("a")).toEqual({ account: "a" });
  });
});

describe("tokens that wait to be verified", () => {
  /** A verifier that answers when the test calls `release`. */
  function slowScene() {
    const held: (() => void)[] = [];
    const inner: SessionVerifier = {
      verify: (token) =>
        new Promise((resolve) => held.push(() => resolve(token.startsWith("good") ? { account: token } : undefined))),
    };
    const verifier = cachedVerifier(inner, 10_000, { now: () => 1_000_000 }, SHARE_OF_SOURCE);
    const release = (): void => {
      for (const answer of held.splice(0)) answer();
    };
    return { verifier, held, release };
  }

  /** @returns the number of bad tokens of a source that may wait. */
  async function flood(verifier: SessionVerifier, source: string, held: readonly unknown[]): Promise<number> {
    const before = held.length;
    const refused: Promise<unknown>[] = [];
    for (let index = 0; index < 1_000; index++) {
      const answer = verifier.verify(`bad ${source} ${index}`, source);
      answer.catch(() => {});
      refused.push(answer);
    }
    const waits = held.length - before;
    await expect(refused.at(-1)).rejects.toBeInstanceOf(Unavailable);
    return waits;
  }

  it("from a few sources leave places for valid tokens of other sources", async () => {
    const { verifier, held, release } = slowScene();
    for (let source = 0; source < 20; source++) await flood(verifier, `flooding ${source}`, held);
    const good = verifier.verify("good", "another");
    release();
    expect(await good).toEqual({ account: "good" });
  });

  it("have a share of the places, and get all of the share back when they have their answers", async () => {
    const { verifier, held, release } = slowScene();
    const waits = await flood(verifier, "one", held);
    expect(waits).toBe(56);
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await flood(verifier, "one", held)).toBe(waits);
  });
});
