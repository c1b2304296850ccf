import { zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Compressed, Compressor, decompress } from "./compression.ts";
import { anyPayload, crowd, payload } from "./payloads.fixture.ts";

const compressor = new Compressor();

describe("the compressor", () => {
  it("returns frames that decompress to the same bytes, up to 255 KB", async () => {
    await fc.assert(
      fc.asyncProperty(anyPayload, async (bytes) => {
        expect(decompress(await compressor.compress(bytes)).equals(bytes)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it("gives each of hundreds at once its own frame, in any order of sealing and opening", async () => {
    const all = crowd(600);
    const frames = await Promise.all(all.map((bytes) => compressor.compress(bytes)));
    for (let index = all.length - 1; index >= 0; index--) {
      expect(decompress(frames[index] as Compressed).equals(all[index] as Buffer), `payload ${index}`).toBe(true);
    }
  });

  it("makes each frame from its own bytes alone: an event's frame says nothing of the one before", async () => {
    const [first, second] = [payload(10_000, "noise"), payload(10_000, "noise")];
    const alone = new Compressor();
    const after = new Compressor();
    // Both lanes of `after` have compressed the first text, no lane of `alone` has.
    for (let lane = 0; lane < 2; lane++) await after.compress(first);
    expect(await after.compress(second)).toEqual(await alone.compress(second));
    const again = await after.compress(first);
    expect(again.bytes.length, "what came before is not a dictionary of what follows").toBeGreaterThan(9_900);
  });

  it("does not change frames that it has returned", async () => {
    const first = await compressor.compress(payload(3_000, "json"));
    const copy = Buffer.from(first.bytes);
    await Promise.all(crowd(100).map((bytes) => compressor.compress(bytes)));
    expect(first.bytes.equals(copy)).toBe(true);
  });

  it("takes bytes that are no Buffer, and a part of a larger one", async () => {
    const whole = payload(5_000, "json");
    const bytes = new Uint8Array(whole.buffer, whole.byteOffset + 100, 1_000);
    expect(decompress(await compressor.compress(bytes)).equals(whole.subarray(100, 1_100))).toBe(true);
  });

  it("compresses what events are made of", async () => {
    expect((await compressor.compress(payload(15_000, "json"))).bytes.length).toBeLessThan(5_000);
  });
});

describe("the compressor, when a lane fails,", () => {
  /** A text whose characters and bytes are not the same number: a frame that does not fit what was asked for. */
  const misfit = "é".repeat(500) as unknown as Uint8Array;

  it("rejects the calls that wait, never returns a frame of another call, and recovers", async () => {
    const own = new Compressor();
    const all = crowd(60);
    const outcomes = await Promise.allSettled(
      all.flatMap((bytes, index) =>
        index === 20 ? [own.compress(misfit), own.compress(bytes)] : [own.compress(bytes)],
      ),
    );
    expect(outcomes[20]?.status).toBe("rejected");
    const others = outcomes.toSpliced(20, 1);
    for (const [index, outcome] of others.entries()) {
      if (outcome.status === "fulfilled") expect(decompress(outcome.value).equals(all[index] as Buffer)).toBe(true);
    }
    expect(others.filter(({ status }) => status === "fulfilled").length, "the other lane continues").toBeGreaterThan(
      25,
    );
    for (const bytes of all) expect(decompress(await own.compress(bytes)).equals(bytes)).toBe(true);
  });

  it("recovers again and again, on every lane", async () => {
    const own = new Compressor();
    for (let round = 0; round < 10; round++) {
      await expect(own.compress(misfit)).rejects.toThrow(/does not belong/);
      await new Promise(setImmediate);
    }
    const bytes = payload(1_000, "json");
    expect(decompress(await own.compress(bytes)).equals(bytes)).toBe(true);
  });
});

describe("decompression", () => {
  it("rejects a dictionary of a later version by name", () => {
    expect(() => decompress({ dictionary: 200, bytes: Buffer.alloc(10) })).toThrow(/dictionary 200/);
  });

  it("rejects bytes that are no frame, and half a frame", async () => {
    const { dictionary, bytes } = await compressor.compress(payload(1_000, "json"));
    for (const other of [Buffer.alloc(0), Buffer.from("garbage"), bytes.subarray(0, -1), bytes.subarray(1)]) {
      expect(() => decompress({ dictionary, bytes: other })).toThrow();
    }
  });

  it("needs the dictionary: without it the frame does not open to the same bytes", async () => {
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
