import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { readAnswer } from "../native/read-answer.ts";
import type { Evidence } from "../native/native-interface.ts";
import { mergeSources, type Judgements } from "./judgement.ts";
import { JUDGEMENTS } from "./judgements.ts";

const PROBES = Object.entries(JUDGEMENTS).flatMap(([platform, probes]) =>
  Object.entries(probes).map(([probe, judgements]) => [platform, probe, judgements] as const),
);

const TEXTS = ["maps", "mountInfo", "status", "cpuInfo", "unixSockets", "tcpSockets"] as const;
const NAMES = ["threads", "descriptors", "stack", "images"] as const;

function judgeAll(judgements: Judgements, evidence: unknown): Record<string, unknown> {
  const read: Evidence = readAnswer({ evidence }).evidence ?? {};
  return Object.fromEntries(Object.entries(judgements).map(([name, judgement]) => [name, judgement.judge(read)]));
}

/**
 * Pieces of real evidence, which the test joins at random with other short texts, because the results almost match what
 * the readers search for.
 */
const PIECES =
  "/memfd:frida-agent-64.so|r-xp|tmpfs|magisk|/data|/system|TracerPid:\t|@|0A|:69A2|flags\t: |hypervisor|[|/|rw|overlay|de.robv.";
const piece = fc.constantFrom(" (deleted)", " - ", "\n", "\0", "\ufffd", " ", ...PIECES.split("|"));
const text = fc.array(fc.oneof(piece, fc.string({ maxLength: 8 })), { maxLength: 60 }).map((pieces) => pieces.join(""));
const presence = fc.record({ present: fc.array(text), absent: fc.array(text) });
const evidence = fc.record(
  {
    ...Object.fromEntries(TEXTS.map((name) => [name, fc.record({ text, truncated: fc.boolean() })])),
    ...Object.fromEntries(NAMES.map((name) => [name, fc.array(text)])),
    build: fc.dictionary(text, text),
    properties: fc.dictionary(text, text),
    packages: presence,
    executables: presence,
    paths: presence,
    classes: presence,
    environment: presence,
    schemes: presence,
    links: presence,
    ports: presence,
    parentPid: fc.integer(),
    proxies: fc.dictionary(fc.constantFrom("httpEnabled", "httpHost", "httpPort", "pacHost"), fc.anything()),
    numbers: fc.anything(),
  },
  { requiredKeys: [] },
);

test.each(PROBES)("%s, %s: no evidence makes a judgement throw or exceed its bounds", (_, __, judgements) => {
  fc.assert(
    fc.property(evidence, (content) => {
      const size = JSON.stringify(judgeAll(judgements, content)).length;
      expect(size).toBeLessThan(65_536);
    }),
    { numRuns: 200 },
  );
});

const MEGABYTE = 1_048_576;

describe("evidence of an unusual size and shape", () => {
  it.each([
    ["one line without an end", "x"],
    ["empty lines", "\n"],
    ["lines of one character", "/\n"],
    ["slashes", "/"],
    ["brackets", "[\n"],
    ["blanks", " "],
    ["columns", "a b\n"],
    ["separators", "- "],
    ["names", " @\n"],
    ["bytes that are no UTF-8", "\ufffd"],
    ["marks of a processor", "flags: hypervisor "],
    ["mounts", "1 1 1:1 /adb/x /system - overlay KSU rw\n"],
    ["overlays", "1 1 1:1 / /system - overlay o lowerdir=/a/a/a/a:/mnt/x:/a/\n"],
    ["deep folders of overlays", `1 1 1:1 / /system - overlay o lowerdir=${"/a".repeat(128)}\n`],
    ["roots", "1 1 1:1 /x/waydroid/data /system - ext4 /waydroid/ rw\n"],
    ["libraries", "a r-xp /frida-agent-1.so\n"],
    ["executable memory", "a r-xp 1 [anon:a\na rwxp 1 [anon:b\n"],
  ])("%s: the time grows no faster than the size", (_, unit) => {
    const [, , judgements] = PROBES[0] ?? expect.fail();
    expectLinear((size) => judgeAll(judgements, texts(unit, size)));
  });

  it("has names of a megabyte, which are never reported", () => {
    const name = "frida-agent-".padEnd(MEGABYTE, "x");
    const maps = {
      text: `7a10000000-7a101a0000 r-xp 00000000 fd:05 3200 /data/local/tmp/${name}.so`,
      truncated: false,
    };
    const [, , judgements] = PROBES[0] ?? expect.fail();
    const concluded = judgeAll(judgements, { maps, threads: [name], stack: [name], build: { tags: name } });
    expect(concluded["injectedLibrariesFound"]).toBe(true);
    expect(JSON.stringify(concluded).length).toBeLessThan(8_192);
  });
});

function repeated(unit: string, size: number): string {
  return unit.repeat(Math.ceil(size / unit.length));
}

function texts(unit: string, size: number): unknown {
  const content = repeated(unit, size);
  return Object.fromEntries(TEXTS.map((name) => [name, { text: content, truncated: false }]));
}

/** The sizes are close to each other, so that an exponential pattern exceeds its budget before it takes minutes. */
const SIZES = Array.from({ length: 30 }, (_, step) => Math.ceil(8 * 1.5 ** step));

/**
 * The budget in microseconds. The slowest linear judgement takes at most a tenth of the budget, so that the test also
 * passes on a slow machine. A quadratic judgement exceeds the budget at some ten thousand characters.
 */
const budgetOf = (size: number): number => 20_000 + 2 * size;

function expectLinear(judge: (size: number) => unknown): void {
  for (const size of SIZES) {
    const isWithin = Array.from({ length: 3 }).some(() => costOf(() => judge(size)) <= budgetOf(size));
    expect(isWithin, `${size} characters take longer than ${budgetOf(size)} µs`).toBe(true);
  }
}

/** Microseconds of this thread's own processor time, so that other work on the machine does not count. */
function costOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

test("requests to native code are bounded", () => {
  for (const [, , judgements] of PROBES) {
    const request = JSON.stringify(mergeSources(Object.values(judgements).map(({ sources }) => sources)));
    expect(request.length).toBeLessThan(8_192);
  }
});

it.each(["1", "-1", "1.", "-ios", "a", "frida"])(
  "names of images full of %s: the time grows linearly with the size",
  (unit) => {
    const judgements = Object.values(JUDGEMENTS.ios["os_integrity"] ?? {});
    expectLinear((size) => {
      const images = [`/usr/lib/a${repeated(unit, size)}!`];
      for (const judgement of judgements) judgement.judge({ images });
    });
  },
);
