import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Compressor, decompress } from "./compression.ts";
import { CompressionThread } from "./compression-thread.ts";
import { anyPayload, crowd, payload } from "./payloads.fixture.ts";

/** The number of events in a second after which the thread starts. */
const BUSY = 64;
const SLOTS = 64;
const EVENT = payload(100, "json");

const { dictionary } = await new Compressor().compress(EVENT);
const opened: CompressionThread[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((thread) => thread.close()));
});

/** @param code the code of the thread, in place of its file. */
function openThread(code?: string) {
  const errors: unknown[] = [];
  const file = code === undefined ? undefined : new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const thread = new CompressionThread((error) => void errors.push(error), file);
  opened.push(thread);
  return { thread, errors };
}

/** A thread that has started. */
function startThread(code?: string) {
  const started = openThread(code);
  for (let event = 0; event < BUSY; event++) void started.thread.compress(EVENT);
  return started;
}

const SLOTS_FILE = JSON.stringify(new URL("compression-slots.ts", import.meta.url).href);

/** The code of a thread whose function `compress` has this body. */
const compressingBy = (body: string): string => `
  import { parentPort, workerData } from "node:worker_threads";
  import { CompressingSlots } from ${SLOTS_FILE};
  new CompressingSlots(workerData).work((bytes) => { ${body} }, () => parentPort.postMessage(0));
`;

describe("the thread that compresses events", () => {
  it("starts when many events arrive within a second, and the caller compresses them until then", () => {
    const { thread } = openThread();
    expect(Array.from({ length: BUSY }, () => thread.compress(EVENT))).toEqual(Array.from({ length: BUSY }));
    expect(thread.compress(EVENT)).toBeInstanceOf(Promise);
  });

  it("does not start for as many events in several seconds", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { thread } = openThread();
    for (let event = 0; event < 3 * BUSY; event++) {
      if (event % (BUSY - 1) === 0) vi.advanceTimersByTime(1_000);
      expect(thread.compress(EVENT)).toBeUndefined();
    }
  });

  it("compresses any text of up to 32 KiB as the caller does", async () => {
    const { thread } = startThread();
    const compressor = new Compressor();
    await fc.assert(
      fc.asyncProperty(anyPayload, async (bytes) => {
        const compressed = await thread.compress(bytes);
        expect(compressed).toEqual(bytes.length > 32_768 ? undefined : compressor.compressAtOnce(bytes));
      }),
      { numRuns: 200 },
    );
  });

  it("gives each of more events than there are slots its own bytes, or leaves it to the caller", async () => {
    const { thread } = startThread();
    const compressAll = async (all: readonly Buffer[]): Promise<number> => {
      const compressed = await Promise.all(all.map((bytes) => thread.compress(bytes)));
      for (const [index, bytes] of all.entries()) {
        const one = compressed[index];
        if (one) expect(decompress({ dictionary, bytes: one }).equals(bytes), `payload ${index}`).toBe(true);
      }
      return compressed.filter((one) => one !== undefined).length;
    };
    const all = crowd(300).map((bytes) => bytes.subarray(0, 20_000));
    expect(await compressAll(all)).toBe(SLOTS);
    for (let round = 0; round < 5; round++) expect(await compressAll(all.slice(round, round + 50))).toBe(50);
  });

  it("leaves an event that it can't compress to the caller, and compresses the next one", async () => {
    const { thread, errors } = startThread(compressingBy(`if (bytes[0] === 0) throw new Error("no"); return bytes`));
    const [bad, good] = [Buffer.of(0, 1), Buffer.of(7, 1)];
    const compressed = await Promise.all([bad, good, bad].map((bytes) => thread.compress(bytes)));
    expect(compressed).toEqual([undefined, good, undefined]);
    expect(errors).toEqual([]);
  });

  it.each([
    ["can't start", `throw new Error("no such file")`],
    ["ends", `process.exit()`],
    ["ends with an event", compressingBy("process.exit()")],
  ])("leaves all events to the caller when it %s, and reports this once", async (_, code) => {
    const { thread, errors } = startThread(code);
    const waiting = [1, 2, 3].map(() => thread.compress(EVENT));
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
    expect(thread.compress(EVENT)).toBeUndefined();
    expect(errors).toHaveLength(1);
  });

  it("leaves all events to the caller when it does not progress", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { thread, errors } = startThread(`for (;;);`);
    const waiting = [1, 2].map(() => thread.compress(EVENT));
    vi.advanceTimersByTime(4_000);
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    expect(String(errors)).toContain("does not progress");
  });

  it("leaves to the caller what it has not compressed when it is closed", async () => {
    const { thread, errors } = startThread(`for (;;);`);
    const waiting = thread.compress(EVENT);
    await thread.close();
    expect(await waiting).toBeUndefined();
    expect(thread.compress(EVENT)).toBeUndefined();
    expect(errors).toEqual([]);
  });
});
