import { readFileSync } from "node:fs";
import { validateTransportRequest } from "@device-risk-signals/contract";
import { checkAgainstCatalog } from "@device-risk-signals/contract/catalog/check";
import { factsOf, type Platform, PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CollectedEvent } from "./collection.ts";
import { consentFor } from "./consent.ts";
import { DeviceIntelOnHost } from "./device-intel-on-host.ts";
import { type Answers, fakeHost, NEVER } from "./host.fixture.ts";

const schema = JSON.parse(
  readFileSync(`${import.meta.dirname}/../../contract/schema/raw-signal-event.schema.json`, "utf8"),
) as object;
const matchesSchema = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

/** `timeoutMs` is short where native code may be silent, and long where each probe answers, so that none times out. */
function collect(answers: Answers, platform: Platform, timeoutMs = 5_000): Promise<CollectedEvent> {
  const native = fakeHost(answers, { platform });
  const probes = Object.fromEntries(PROBE_IDS.map((probe) => [probe, { enabled: true, timeoutMs }]));
  const intel = new DeviceIntelOnHost({ consent: consentFor(...PROBE_IDS), probes }, () => native);
  return intel.collect({ sessionId: "session-1" });
}

/** Checks the event in its sent form by the published schema, the server's own validator and the catalog. */
function expectValid(event: CollectedEvent, platform: Platform): void {
  const text = JSON.stringify(event);
  const sent: unknown = JSON.parse(text);
  expect(matchesSchema(sent), JSON.stringify(matchesSchema.errors)).toBe(true);
  const request = { action_id: "a", action_type: "t", sdk_version: "0.1.0", platform, observations: sent };
  expect(validateTransportRequest(request)).toMatchObject({ ok: true });
  expect(Buffer.byteLength(JSON.stringify(request))).toBeLessThan(262_144);
  expect(checkAgainstCatalog(event.probes)).toEqual([]);
  expect(/[\ud800-\udfff]/u.test(text)).toBe(false);
}

const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("\ud800", "\0", "__proto__", "x".repeat(2_000), "\u0001".repeat(1_000), "€".repeat(1_000)),
);
const hostileValue = fc.oneof(
  hostileText,
  fc.boolean(),
  fc.double(),
  fc.bigInt(),
  fc.constantFrom(null, undefined, Number.NaN, Number.POSITIVE_INFINITY, 1, 0, -0, "true", Symbol("s"), () => 1),
  fc.array(fc.oneof(hostileText, fc.double(), fc.boolean()), { maxLength: 300 }),
  fc.dictionary(hostileText, fc.oneof(hostileText, fc.double()), { maxKeys: 5 }),
);

const sources = [
  "maps",
  "mountInfo",
  "status",
  "threads",
  "descriptors",
  "properties",
  "build",
  "paths",
  "bundleFolder",
  "packages",
].concat([
  "classes",
  "environment",
  "images",
  "parentPid",
  "proxies",
  "numbers",
  "schemes",
  "ports",
  "links",
  "writablePaths",
]);
const hostileEvidence = fc.oneof(
  hostileValue,
  fc.dictionary(
    fc.constantFrom(...sources),
    fc.oneof(
      hostileValue,
      fc.record({ text: hostileText, truncated: fc.boolean() }),
      fc.record({ present: fc.array(hostileText), absent: fc.array(hostileText) }),
    ),
  ),
);

const SILENT = Symbol("never answers");
const REJECTING = Symbol("rejects");

/** Fields with catalog names, some with right and some with wrong values. */
const fieldsOf = (probe: (typeof PROBE_IDS)[number]) =>
  fc.record(Object.fromEntries([...factsOf(probe).fields.keys()].map((name) => [name, hostileValue])), {
    requiredKeys: [],
  });

const answer = fc
  .constantFrom(...PROBE_IDS)
  .chain((probe) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ fields: fieldsOf(probe), evidence: hostileEvidence }) },
      hostileValue,
      fc.record({ unavailable: hostileValue }),
      fc.constantFrom(SILENT, REJECTING),
    ),
  );

describe("the event is valid after any answer of native code", () => {
  it.each(["android", "ios"] as const)("on %s", async (platform) => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 19 }), async (several) => {
        let turn = 0;
        const native: Answers = () => {
          const next = several[turn++ % several.length];
          if (next === REJECTING) throw new Error("/data/secret");
          return next === SILENT ? NEVER : next;
        };
        const event = await collect(native, platform, 15);
        expectValid(event, platform);
        expect(JSON.stringify(event)).not.toContain("secret");
      }),
      { numRuns: 150 },
    );
  });

  it.each(["android", "ios"] as const)("on %s, if every field is as large as its bounds allow", async (platform) => {
    const largest = { string: "€".repeat(1_024), boolean: true, number: -1.7976931348623157e308, object: {} };
    const values = {
      ...largest,
      "string[]": Array.from({ length: 256 }, () => "\u0001".repeat(1_024)),
      "number[]": Array.from({ length: 256 }, () => -1.7976931348623157e308),
    };
    const event = await collect((probe) => {
      const { fields } = factsOf(probe as (typeof PROBE_IDS)[number]);
      return { fields: Object.fromEntries([...fields].map(([name, { type }]) => [name, values[type]])) };
    }, platform);
    expectValid(event, platform);
  });

  it("if the answer is a host object that throws at every access", async () => {
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    const event = await collect(() => ({ fields: trap, evidence: trap }), "android");
    expectValid(event, "android");
    expect(event.probes.hardware).toEqual({ status: "error", error: "native-failed" });
  });
});

it("if the native half throws or rejects with a value that is no Error, the outcome of the probe is error", async () => {
  const event = await collect((probe) => {
    if (probe === "locale") return Promise.reject("a text"); // eslint-disable-line prefer-promise-reject-errors
    throw "another text"; // eslint-disable-line no-throw-literal
  }, "ios");
  expect(event.probes.locale).toEqual({ status: "error", error: "native-failed" });
  expect(event.probes.hardware).toEqual({ status: "error", error: "native-failed" });
});
