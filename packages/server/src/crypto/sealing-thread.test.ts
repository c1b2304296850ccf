import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { decrypt } from "./authenticated-encryption.ts";
import { decompress } from "./compression.ts";
import { anyPayload, crowd, payload } from "./payloads.fixture.ts";
import { SealingThread } from "./sealing-thread.ts";

/** The number of events in a second after which the thread starts. */
const BUSY = 64;
const SLOTS = 64;

const key = createSecretKey(randomBytes(32));
const associatedData = Buffer.from("of this event");

const open = (sealed: Buffer | undefined, under: KeyObject = key, associated = associatedData): Buffer =>
  decrypt(
    under,
    () => associated,
    sealed ?? Buffer.alloc(0),
    (dictionary, bytes) => decompress({ dictionary, bytes }),
  );

const opened: SealingThread[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((thread) => thread.close()));
});

/** @param code the code of the thread, in place of its file. */
function openThread(code?: string) {
  const errors: unknown[] = [];
  const file = code === undefined ? undefined : new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const thread = new SealingThread((error) => void errors.push(error), file);
  opened.push(thread);
  return { thread, errors };
}

/** A thread that has started. */
function startThread(code?: string) {
  const started = openThread(code);
  for (let event = 0; event < BUSY; event++) void started.thread.seal(key, associatedData, payload(100, "json"));
  return started;
}

const SLOTS_FILE = JSON.stringify(new URL("sealing-slots.ts", import.meta.url).href);

/** The code of a thread whose function `seal` has this body. */
const sealingBy = (body: string): string => `
  import { parentPort, workerData } from "node:worker_threads";
  import { SealingSlots } from ${SLOTS_FILE};
  new SealingSlots(workerData).work(({ key, associatedData, bytes }) => { ${body} }, () => parentPort.postMessage(0));
`;

describe("the thread that seals events", () => {
  it("starts when many events arrive within a second, and the caller seals them until then", () => {
    const { thread } = openThread();
    const seal = () => thread.seal(key, associatedData, payload(100, "json"));
    expect(Array.from({ length: BUSY }, seal)).toEqual(Array.from({ length: BUSY }));
    expect(seal()).toBeInstanceOf(Promise);
  });

  it("does not start for as many events in several seconds", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { thread } = openThread();
    for (let event = 0; event < 3 * BUSY; event++) {
      if (event % (BUSY - 1) === 0) vi.advanceTimersByTime(1_000);
      expect(thread.seal(key, associatedData, payload(100, "json"))).toBeUndefined();
    }
  });

  it("seals the bytes of an event, of any text and up to 32 KiB, under its key and associated data", async () => {
    const { thread } = startThread();
    await fc.assert(
      fc.asyncProperty(anyPayload, fc.uint8Array({ maxLength: 1_024 }), async (bytes, associated) => {
        const own = createSecretKey(randomBytes(32));
        const sealed = await thread.seal(own, associated, bytes);
        if (bytes.length > 32_768) expect(sealed).toBeUndefined();
        else expect(open(sealed, own, Buffer.from(associated)).equals(bytes)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it("gives each of more events than there are slots its own payload, or leaves it to the caller", async () => {
    const { thread } = startThread();
    const sealAll = async (all: readonly Buffer[]): Promise<number> => {
      const sealed = await Promise.all(all.map((bytes) => thread.seal(key, associatedData, bytes)));
      for (const [index, bytes] of all.entries()) {
        const one = sealed[index];
        if (one) expect(open(one).equals(bytes), `payload ${index}`).toBe(true);
      }
      return sealed.filter((one) => one !== undefined).length;
    };
    const small = crowd(300).map((bytes) => bytes.subarray(0, 20_000));
    expect(await sealAll(small)).toBe(SLOTS);
    for (let round = 0; round < 5; round++) expect(await sealAll(small.slice(round, round + 50))).toBe(50);
  });

  it("leaves an event that it can't seal to the caller, and seals the next one", async () => {
    const { thread, errors } = startThread(
      sealingBy(`if (bytes[0] === 0) throw new Error("no"); return Buffer.from(bytes)`),
    );
    const [bad, good] = [Buffer.of(0, 1), Buffer.of(7, 1)];
    const sealed = await Promise.all([bad, good, bad].map((bytes) => thread.seal(key, associatedData, bytes)));
    expect(sealed).toEqual([undefined, good, undefined]);
    expect(errors).toEqual([]);
  });

  it("clears the key from the shared memory", async () => {
    // The next job in the slot's memory sees what the first one left.
    const { thread } = startThread(
      sealingBy(`const seen = globalThis.before ?? key; globalThis.before = key; return Buffer.from(seen)`),
    );
    const first = await thread.seal(key, associatedData, payload(100, "json"));
    expect(first).toEqual(key.export());
    expect(await thread.seal(key, associatedData, payload(100, "json"))).toEqual(Buffer.alloc(32));
  });

  it.each([
    ["can't start", `throw new Error("no such file")`],
    ["ends", `process.exit()`],
    ["ends with an event", sealingBy("process.exit()")],
  ])("leaves all events to the caller when it %s, and reports this once", async (_, code) => {
    const { thread, errors } = startThread(code);
    const waiting = [1, 2, 3].map(() => thread.seal(key, associatedData, payload(100, "json")));
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
    expect(thread.seal(key, associatedData, payload(100, "json"))).toBeUndefined();
    expect(errors).toHaveLength(1);
  });

  it("leaves all events to the caller when it does not progress", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { thread, errors } = startThread(`for (;;);`);
    const waiting = [1, 2].map(() => thread.seal(key, associatedData, payload(100, "json")));
    vi.advanceTimersByTime(2_000);
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    expect(String(errors)).toContain("does not progress");
  });

  it("leaves to the caller what it has not sealed when it is closed", async () => {
    const { thread, errors } = startThread(`for (;;);`);
    const waiting = thread.seal(key, associatedData, payload(100, "json"));
    await thread.close();
    expect(await waiting).toBeUndefined();
    expect(thread.seal(key, associatedData, payload(100, "json"))).toBeUndefined();
    expect(errors).toEqual([]);
  });
});
