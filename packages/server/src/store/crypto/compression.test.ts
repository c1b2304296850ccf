import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deflatedBytes, type Generator, GENERATORS } from "../../../../../bench/src/generators.ts";
import { unseenEvent } from "../../../../../bench/src/unseen-event.ts";
import { makeDictionary } from "../../../../../tools/dictionary/make-dictionary.ts";
import { type Compressed, Compressor, decompress } from "./compression.ts";
import { ImmediateContext } from "./compression-context.ts";
import { anyPayload, crowd, payload } from "./payloads.fixture.ts";

const compressor = new Compressor();

/** The first bytes of a dictionary (RFC 8878 §5). */
const DICTIONARY_MAGIC = Buffer.from("37a430ec", "hex");

/** The length of a text that a compressor on another thread compresses. */
const LONG = 40_000;

describe("the compressor", () => {
  it("returns frames that decompress to the same bytes, up to 255 KB", async () => {
    await fc.assert(
      fc.asyncProperty(anyPayload, async (bytes) => {
        expect(decompress(await compressor.compress(bytes)).equals(bytes)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it("gives each of hundreds of concurrent events its own frame, in any order of sealing and opening", async () => {
    const all = crowd(600);
    const frames = await Promise.all(all.map((bytes) => compressor.compress(bytes)));
    for (let index = all.length - 1; index >= 0; index--) {
      expect(decompress(frames[index] as Compressed).equals(all[index] as Buffer), `payload ${index}`).toBe(true);
    }
  });

  it.each([10_000, LONG])(
    "makes a frame of %i bytes from these bytes alone, and not from the previous ones",
    async (size) => {
      const [first, second] = [payload(size, "noise"), payload(size, "noise")];
      const alone = new Compressor();
      const after = new Compressor();
      // Every context of `after` that can compress the second text has compressed the first one. No context of `alone`
      // has.
      for (let lane = 0; lane < 2; lane++) await after.compress(first);
      expect(await after.compress(second)).toEqual(await alone.compress(second));
      const again = await after.compress(first);
      expect(again.bytes.length, "what came before is not a dictionary of what follows").toBeGreaterThan(size - 100);
    },
  );

  it("compresses a short event on the caller's thread, and gives a long one to another thread", async () => {
    const order: string[] = [];
    const all = [
      compressor.compress(payload(LONG, "json")).then(() => order.push("long")),
      compressor.compress(payload(14_000, "json")).then(() => order.push("event")),
    ];
    await Promise.all(all);
    expect(order).toEqual(["event", "long"]);
  });

  it("does not change frames that it has returned", async () => {
    const first = await compressor.compress(payload(3_000, "json"));
    const copy = Buffer.from(first.bytes);
    await Promise.all(crowd(100).map((bytes) => compressor.compress(bytes)));
    expect(first.bytes.equals(copy)).toBe(true);
  });

  it("accepts a Uint8Array that is no Buffer, and a subarray of a larger array", async () => {
    const whole = payload(5_000, "json");
    const bytes = new Uint8Array(whole.buffer, whole.byteOffset + 100, 1_000);
    expect(decompress(await compressor.compress(bytes)).equals(whole.subarray(100, 1_100))).toBe(true);
  });

  it("needs fewer bytes for an event than deflate with the catalog's names, even for events of a kind that the dictionary does not know", async () => {
    for (const [name, make] of Object.entries(GENERATORS)) {
      const events = Array.from({ length: 20 }, (_, seed) => Buffer.from(JSON.stringify(make(seed, new Date(seed)))));
      const frames = await Promise.all(events.map((event) => compressor.compress(event)));
      const bytes = frames.reduce((sum, frame) => sum + frame.bytes.length, 0) / events.length;
      expect(bytes / deflatedBytes(name as Generator, 20), name).toBeLessThan(0.86);
    }
  });

  it("opens frames of every version of the dictionary", async () => {
    for (const version of [1, 2]) {
      const event = Buffer.from(JSON.stringify(unseenEvent(version, new Date(0))));
      const frame = await new Compressor(version).compress(event);
      expect(frame.dictionary).toBe(version);
      expect(decompress(frame).equals(event)).toBe(true);
    }
  });
});

describe("the dictionary", () => {
  const file = (name: string): Buffer => readFileSync(join(import.meta.dirname, "dictionaries", name));

  it("never changes after its release", () => {
    expect(createHash("sha256").update(file("1.zdict")).digest("hex")).toBe(
      "164cc94983255ac987b9659a825f5e8643c143a0b1018072f130eead36df37a4",
    );
  });

  it("is made only from the catalog and synthetic events", () => {
    const { names, content } = makeDictionary();
    expect(file("2.names").toString().trimEnd().split("\n")).toEqual(names);
    expect(file("2.zdict").equals(content), "run npm run train-dictionary").toBe(true);
  });
});

describe("the compressor, when a lane fails,", () => {
  /**
   * A text whose number of characters differs from its number of bytes, so that its frame states another size than
   * expected. A compressor of the first version is used, because only that version compresses its input unchanged.
   */
  const misfit = "é".repeat(LONG) as unknown as Uint8Array;

  it("rejects only the call that failed, and never returns a frame of another call", async () => {
    const own = new Compressor(1);
    const all = Array.from({ length: 30 }, (_, index) => payload(LONG + index, index % 2 === 0 ? "json" : "noise"));
    const outcomes = await Promise.allSettled(
      all.flatMap((bytes, index) =>
        index === 20 ? [own.compress(misfit), own.compress(bytes)] : [own.compress(bytes)],
      ),
    );
    expect(outcomes.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([20]);
    for (const [index, outcome] of outcomes.toSpliced(20, 1).entries()) {
      if (outcome.status === "fulfilled") expect(decompress(outcome.value).equals(all[index] as Buffer)).toBe(true);
    }
    for (const bytes of all) expect(decompress(await own.compress(bytes)).equals(bytes)).toBe(true);
  });

  it("rejects an event whose frame states another size, and compresses the next one", async () => {
    const own = new Compressor(1);
    const bytes = payload(10_000, "json");
    for (let round = 0; round < 10; round++) {
      await expect(own.compress(misfit.slice(0, 10_000))).rejects.toThrow(/does not belong/);
      expect(decompress(await own.compress(bytes)).equals(bytes)).toBe(true);
    }
  });

  it("returns no second frame if the output fills a chunk", () => {
    const context = new ImmediateContext(Buffer.alloc(0));
    for (const chunk of [8_192, 16_384]) {
      for (let size = chunk - 20; size <= chunk; size++) {
        const random = randomBytes(size);
        const frame = context.compress(random);
        expect(frame.length - size, `${size} bytes`).toBeLessThan(12);
        expect(zstdDecompressSync(frame).equals(random)).toBe(true);
      }
    }
  });

  it("reports an error of zstd, such as one of a damaged dictionary, for each event", () => {
    const damaged = Buffer.concat([DICTIONARY_MAGIC, Buffer.alloc(100)]);
    const context = new ImmediateContext(damaged);
    for (let round = 0; round < 3; round++) {
      expect(() => context.compress(payload(10_000, "json"))).toThrow(/^zlib: /);
    }
  });

  it("compresses again after each of several failures, on every lane", async () => {
    const own = new Compressor(1);
    for (let round = 0; round < 10; round++) {
      await expect(own.compress(misfit)).rejects.toThrow(/does not belong/);
      await new Promise(setImmediate);
    }
    const bytes = payload(LONG, "json");
    for (let lane = 0; lane < 2; lane++) expect(decompress(await own.compress(bytes)).equals(bytes)).toBe(true);
  });
});

describe("decompression", () => {
  it("rejects a dictionary of a later version, and names the version", () => {
    expect(() => decompress({ dictionary: 200, bytes: Buffer.alloc(10) })).toThrow(/dictionary 200/);
  });

  it("rejects bytes that are no frame, and a truncated frame", async () => {
    const { dictionary, bytes } = await compressor.compress(payload(1_000, "json"));
    for (const other of [Buffer.alloc(0), Buffer.from("garbage"), bytes.subarray(0, -1), bytes.subarray(1)]) {
      expect(() => decompress({ dictionary, bytes: other })).toThrow();
    }
  });

  it("opens the next frame after a frame that was truncated at any byte, or changed", async () => {
    const [event, next] = [payload(1_000, "json"), payload(1_000, "json")];
    const [frame, after] = [await compressor.compress(event), await compressor.compress(next)];
    for (let end = 0; end < frame.bytes.length; end++) {
      const changed = Buffer.from(frame.bytes);
      changed[end] = ~(changed[end] ?? 0);
      for (const bytes of [frame.bytes.subarray(0, end), changed]) {
        try {
          decompress({ ...frame, bytes });
        } catch {
          // A changed frame may decompress to other bytes: the encryption, and not zstd, detects a change.
        }
        expect(decompress(after).equals(next)).toBe(true);
      }
    }
  });

  it("needs the dictionary, without which the frame does not open to the same bytes", async () => {
    const event = Buffer.from(
      '{"session_id":"s","event_type":"device_intel_collection","schema_version":1,"probes":{}}',
    );
    const { bytes } = await compressor.compress(event);
    const without = (): Buffer => zstdDecompressSync(bytes);
    let opened: Buffer | undefined;
    try {
      opened = without();
    } catch {
      opened = undefined;
    }
    expect(opened?.equals(event) ?? false).toBe(false);
  });
});
