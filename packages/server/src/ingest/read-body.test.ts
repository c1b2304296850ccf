import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { BodyHeaders } from "./headers.ts";
import { type BodyLimits, freeMemory, readBody } from "./read-body.ts";
import type { ByteStream } from "./request.ts";

const LIMIT = 4_000;
const LIMITS: BodyLimits = { maxBodyBytes: LIMIT, bodyTimeout: 10_000 };
const IDENTITY: BodyHeaders = { encoding: "identity", length: undefined };
const GZIP: BodyHeaders = { encoding: "gzip", length: undefined };

/** A body that comes in chunks, and the number of chunks that were read. */
function streamOf(chunks: readonly Uint8Array[], end: "end" | "broken" = "end"): ByteStream & { taken: number } {
  return {
    taken: 0,
    async forEach(take) {
      for (const chunk of chunks) {
        if (!take(chunk)) return "stopped";
        this.taken++;
      }
      return end;
    },
  };
}

const rejectedWith = (value: string): object => ({ rejection: { code: value } });
const text = "abcdefgh".repeat(LIMIT / 8);
const random = Buffer.from(Array.from({ length: LIMIT }, (_, index) => (index * 7919) % 251));

it.each([1, 3, 1_000, LIMIT])("chunks of %d bytes are one body, up to the limit", async (size) => {
  const chunks = Array.from({ length: Math.ceil(LIMIT / size) }, (_, at) =>
    random.subarray(at * size, (at + 1) * size),
  );
  expect(await readBody(streamOf(chunks), IDENTITY, LIMITS)).toEqual(random);
});

it("a chunk that is a Uint8Array and no Buffer is accepted", async () => {
  const chunk = Uint8Array.of(1, 2, 3);
  expect(await readBody(streamOf([chunk]), IDENTITY, LIMITS)).toEqual(Buffer.from(chunk));
});

it("a chunk that is part of a larger buffer is copied, so that the larger buffer can be freed", async () => {
  const pool = Buffer.alloc(65_536, "x");
  const body = await readBody(streamOf([pool.subarray(100, 103)]), IDENTITY, LIMITS);
  pool.fill("y");
  expect(body).toEqual(Buffer.from("xxx"));
  expect((body as Buffer).buffer.byteLength).toBeLessThanOrEqual(1_024);
});

it("a body is read correctly if its source reuses the memory of a chunk", async () => {
  const chunk = Buffer.from(new ArrayBuffer(14_000)).fill("x");
  const body = await readBody(streamOf([chunk]), IDENTITY, { ...LIMITS, maxBodyBytes: 20_000 });
  chunk.fill("y");
  expect(body).toEqual(Buffer.alloc(14_000, "x"));
});

describe("the body of a source that gives its chunks away", () => {
  const giving = (chunks: readonly Uint8Array[]): ByteStream => ({ ...streamOf(chunks), isUnshared: true });
  const separate = Buffer.from(new ArrayBuffer(1_000)).fill("x");

  it("is not copied if it is one chunk", async () => {
    const body = await readBody(giving([separate]), IDENTITY, LIMITS);
    expect((body as Buffer).buffer).toBe(separate.buffer);
  });

  it("is copied if its chunk is part of a larger buffer", async () => {
    const pool = Buffer.alloc(65_536, "x");
    const body = await readBody(giving([pool.subarray(100, 103)]), IDENTITY, LIMITS);
    expect((body as Buffer).buffer.byteLength).toBeLessThanOrEqual(1_024);
  });

  it.each([1, 3, 400])("is one buffer if it has %d chunks", async (count) => {
    const chunks = Array.from({ length: count }, (_, at) => Buffer.from(new ArrayBuffer(10)).fill(String(at % 10)));
    expect(await readBody(giving(chunks), IDENTITY, LIMITS)).toEqual(Buffer.concat(chunks));
  });
});

it("reading stops with the chunk that passes the limit", async () => {
  const stream = streamOf([random, Buffer.alloc(1), Buffer.alloc(1)]);
  expect(await readBody(stream, IDENTITY, LIMITS)).toMatchObject(rejectedWith("body-too-large"));
  expect(stream.taken).toBe(1);
});

it("a body whose client disconnects midway is rejected", async () => {
  expect(await readBody(streamOf([random], "broken"), IDENTITY, LIMITS)).toMatchObject(rejectedWith("body-corrupt"));
});

it("the limit applies to the decompressed bytes", async () => {
  expect(await readBody(streamOf([gzipSync(text)]), GZIP, LIMITS)).toEqual(Buffer.from(text));
  expect(await readBody(streamOf([gzipSync(`${text}a`)]), GZIP, LIMITS)).toMatchObject(rejectedWith("body-too-large"));
});

it("compressed bytes may exceed the limit only by the frame that gzip adds to incompressible data", async () => {
  const frame = gzipSync(random, { level: 0 });
  expect(frame.length).toBeGreaterThan(LIMIT);
  expect(await readBody(streamOf([frame]), GZIP, LIMITS)).toEqual(random);
  const endless = streamOf([Buffer.alloc(LIMIT + 65_536), Buffer.alloc(1)]);
  expect(await readBody(endless, GZIP, LIMITS)).toMatchObject(rejectedWith("body-too-large"));
});

describe("a gzip body of several members (RFC 1952)", () => {
  const halves = [text.slice(0, LIMIT / 2), text.slice(LIMIT / 2)];
  const members = (...texts: readonly string[]): Buffer => Buffer.concat(texts.map((one) => gzipSync(one)));

  it("is the concatenation of its members", async () => {
    expect(await readBody(streamOf([members(...halves)]), GZIP, LIMITS)).toEqual(Buffer.from(text));
    expect(await readBody(streamOf([members("", text, "")]), GZIP, LIMITS)).toEqual(Buffer.from(text));
  });

  it("is rejected if the sum of its members exceeds the limit", async () => {
    expect(await readBody(streamOf([members(...halves, "a")]), GZIP, LIMITS)).toMatchObject(
      rejectedWith("body-too-large"),
    );
  });

  it("is corrupt if a later member is incomplete", async () => {
    const cut = members(...halves).subarray(0, -10);
    expect(await readBody(streamOf([cut]), GZIP, LIMITS)).toMatchObject(rejectedWith("body-corrupt"));
  });
});

it.each([
  ["gzip that is invalid", random],
  ["gzip cut short", gzipSync(text).subarray(0, -10)],
  ["gzip with bytes behind it", Buffer.concat([gzipSync(text), Buffer.from("more")])],
  ["gzip with zeros behind it", Buffer.concat([gzipSync(text), Buffer.alloc(8)])],
  ["gzip with zeros between its members", Buffer.concat([gzipSync(text), Buffer.alloc(1), gzipSync("")])],
])("%s is corrupt", async (_, bytes) => {
  expect(await readBody(streamOf([bytes]), GZIP, LIMITS)).toMatchObject(rejectedWith("body-corrupt"));
});

it.each([undefined, 3_000])("a body of several chunks has memory of its own, with the length %s", async (length) => {
  const chunks = [random.subarray(0, 1_500), random.subarray(1_500, 3_000)];
  const body = (await readBody(streamOf(chunks), { encoding: "identity", length }, LIMITS)) as Buffer;
  expect(body).toEqual(random.subarray(0, 3_000));
  const { buffer } = body;
  freeMemory(body);
  expect(buffer.byteLength).toBe(0);
});

it("the memory of a body is freed, unless it also contains other data", () => {
  const body = Buffer.allocUnsafeSlow(100);
  const { buffer } = body;
  freeMemory(body);
  expect(buffer.byteLength).toBe(0);
  const part = Buffer.from("a request and more").subarray(0, 9);
  freeMemory(part);
  expect(part.toString()).toBe("a request");
});

it.each([
  ["identity", LIMIT + 1],
  ["gzip", LIMIT + 65_537],
] as const)(
  "a body of the encoding %s that is announced with %d bytes is rejected unread",
  async (encoding, length) => {
    const unread: ByteStream = { forEach: () => Promise.reject(new Error("the body was read")) };
    expect(await readBody(unread, { encoding, length }, LIMITS)).toMatchObject(rejectedWith("body-too-large"));
  },
);

describe("a body whose length is not the announced one", () => {
  const packed = gzipSync(text);

  it.each([
    ["lost bytes", { encoding: "identity", length: 4 }, Buffer.from("{}")],
    ["gained bytes", { encoding: "identity", length: 1 }, Buffer.from("{}")],
    ["lost all bytes", { encoding: "gzip", length: packed.length }, Buffer.alloc(0)],
    ["lost the first bytes of gzip", { encoding: "gzip", length: packed.length }, packed.subarray(2)],
    ["lost the last byte of gzip", { encoding: "gzip", length: packed.length }, packed.subarray(0, -1)],
  ] as const)("is a mistake of the host, not of the client: %s", async (_, headers, bytes) => {
    await expect(readBody(streamOf([bytes]), headers, LIMITS)).rejects.toThrow(
      /a middleware has changed or partly read/,
    );
  });

  it("is read as it comes if the host has decompressed it", async () => {
    const headers = { encoding: "gzip", length: packed.length } as const;
    const object = Buffer.from(` {"a":"${text.slice(100)}"}\r\n`);
    expect(await readBody(streamOf([object]), headers, LIMITS)).toEqual(object);
    const large = streamOf([Buffer.from(`{"a":"${text}"}`)]);
    expect(await readBody(large, headers, LIMITS)).toMatchObject(rejectedWith("body-too-large"));
  });
});

it("a body that a host stops is rejected when its time is over", async () => {
  const stopped: ByteStream = { forEach: () => new Promise(() => {}) };
  const limits = { ...LIMITS, bodyTimeout: 10 };
  expect(await readBody(stopped, IDENTITY, limits)).toMatchObject(rejectedWith("request-timeout"));
});

it("a stream of the host in place of the request may have decompressed a body of unknown length", async () => {
  const replaced = (bytes: Uint8Array): ByteStream => ({ ...streamOf([bytes]), isReplaced: true });
  expect(await readBody(replaced(Buffer.from("{}")), GZIP, LIMITS)).toEqual(Buffer.from("{}"));
  expect(await readBody(replaced(gzipSync(text)), GZIP, LIMITS)).toEqual(Buffer.from(text));
  expect(await readBody(streamOf([Buffer.from("{}")]), GZIP, LIMITS)).toMatchObject(rejectedWith("body-corrupt"));
});
