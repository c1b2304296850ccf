import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { problemOf } from "../errors.ts";
import { bodyWith, pathsOf, replaced, validRequest } from "./request.fixture.ts";
import { validateTransportRequest } from "./validate.ts";

/** Each violation as `<pointer> <code>`. */
function violationsOf(body: unknown): string[] {
  const result = validateTransportRequest(body);
  return result.ok ? [] : result.errors.map(({ pointer, code }) => `${pointer} ${code}`);
}

const NO_STRINGS = [null, 1, true, [], {}];
const NO_OBJECTS = [null, 1, true, [], "text"];

describe("a valid request", () => {
  it("is returned unchanged, with its instant", () => {
    const body = validRequest();
    const result = validateTransportRequest(body);
    expect(result).toEqual({
      ok: true,
      request: validRequest(),
      collectedAt: { epochMs: Date.parse("2026-03-01T12:00:00.123Z"), micros: 0 },
    });
    expect(result.ok && result.request).toBe(body);
  });

  it.each(["app_version", "observations.client_id"])("may lack %s", (path) => {
    expect(violationsOf(bodyWith(path, undefined))).toEqual([]);
  });

  it("may have an empty app_version and no probes", () => {
    expect(violationsOf(bodyWith("app_version", ""))).toEqual([]);
    expect(violationsOf(bodyWith("observations.probes", {}))).toEqual([]);
  });

  it.each([
    ["an envelope member", "observations.vendor", { nested: [1, null] }],
    ["a probe", "observations.probes.clipboard", { status: "success", data: { x: null } }],
    ["a data field", "observations.probes.network.data.isFast", "maybe"],
    ["a data field of another type than published", "observations.probes.network.data.isMetered", "no"],
    [
      "a member of androidBuild",
      "observations.probes.device_identity",
      { status: "success", data: { androidBuild: { x: 1 } } },
    ],
  ])("may have %s that the contract does not list", (_, path, value) => {
    const body = bodyWith(path, value);
    const before = JSON.stringify(body);
    expect(violationsOf(body)).toEqual([]);
    expect(JSON.stringify(body)).toBe(before);
  });
});

describe("a value of the wrong type gives one violation at its pointer", () => {
  it.each(NO_OBJECTS)("if the body is %j", (value) => {
    expect(violationsOf(value)).toEqual([" type-wrong"]);
  });

  it.each(["observations", "observations.probes", "observations.probes.fonts", "observations.probes.network.data"])(
    "if %s is no object",
    (path) => {
      const violation = `/${path.replaceAll(".", "/")} type-wrong`;
      for (const value of NO_OBJECTS) expect(violationsOf(bodyWith(path, value))).toEqual([violation]);
    },
  );

  it.each([
    "action_id",
    "action_type",
    "sdk_version",
    "platform",
    "app_version",
    "observations.session_id",
    "observations.client_id",
    "observations.event_type",
    "observations.collected_at",
    "observations.probes.fonts.status",
    "observations.probes.fonts.error",
    "observations.probes.telephony.reason",
  ])("if %s is no string", (path) => {
    const violation = `/${path.replaceAll(".", "/")} type-wrong`;
    for (const value of NO_STRINGS) expect(violationsOf(bodyWith(path, value))).toEqual([violation]);
  });
});

describe("a missing member gives one violation at its pointer", () => {
  it.each([
    "action_id",
    "action_type",
    "sdk_version",
    "platform",
    "observations",
    "observations.session_id",
    "observations.event_type",
    "observations.schema_version",
    "observations.collected_at",
    "observations.probes",
    "observations.probes.network.status",
    "observations.probes.network.data",
    "observations.probes.telephony.reason",
    "observations.probes.fonts.error",
  ])("if it is %s", (path) => {
    expect(violationsOf(bodyWith(path, undefined))).toEqual([`/${path.replaceAll(".", "/")} member-missing`]);
  });
});

describe("the length of a text", () => {
  it.each([
    ["action_id", 128],
    ["action_type", 64],
    ["sdk_version", 32],
    ["app_version", 64],
    ["observations.session_id", 128],
  ])("of %s is limited to %i code points", (path, most) => {
    const violation = `/${path.replaceAll(".", "/")} too-long`;
    for (const character of ["a", "é", "\u{1f600}"]) {
      expect(violationsOf(bodyWith(path, character.repeat(most)))).toEqual([]);
      expect(violationsOf(bodyWith(path, character.repeat(most + 1)))).toEqual([violation]);
    }
    expect(violationsOf(bodyWith(path, `${"\u{1f600}".repeat(most - 1)}ab`))).toEqual([violation]);
    expect(violationsOf(bodyWith(path, "a".repeat(200_000)))).toEqual([violation]);
  });

  it.each(["action_id", "action_type", "sdk_version", "observations.session_id", "observations.client_id"])(
    "of %s is at least one character",
    (path) => {
      expect(violationsOf(bodyWith(path, ""))).toEqual([`/${path.replaceAll(".", "/")} too-short`]);
    },
  );

  it.each(["observations.client_id", "observations.probes.telephony.reason", "observations.probes.fonts.error"])(
    "of %s has no upper limit",
    (path) => {
      expect(violationsOf(bodyWith(path, "a".repeat(10_000)))).toEqual([]);
    },
  );

  it("of a reason or an error may be 0", () => {
    expect(violationsOf(bodyWith("observations.probes.telephony.reason", ""))).toEqual([]);
    expect(violationsOf(bodyWith("observations.probes.fonts.error", ""))).toEqual([]);
  });
});

describe("U+0000", () => {
  it.each(["action_id", "action_type", "sdk_version", "app_version", "observations.session_id"])(
    "is rejected in the promoted %s",
    (path) => {
      expect(violationsOf(bodyWith(path, "a\0b"))).toEqual([`/${path.replaceAll(".", "/")} character-not-allowed`]);
      expect(violationsOf(bodyWith(path, "\0".repeat(129)))).toEqual([
        `/${path.replaceAll(".", "/")} too-long`,
        `/${path.replaceAll(".", "/")} character-not-allowed`,
      ]);
    },
  );

  it.each([
    "observations.client_id",
    "observations.vendor",
    "observations.probes.telephony.reason",
    "observations.probes.network.data.proxyHost",
    "observations.probes.network.data.x\0y",
  ])("is kept in %j", (path) => {
    expect(violationsOf(bodyWith(path, "a\0b"))).toEqual([]);
  });
});

describe("a member with a closed vocabulary", () => {
  it.each([
    ["platform", "ios"],
    ["observations.schema_version", JSON.parse("1.0")],
    ["observations.schema_version", JSON.parse("10e-1")],
  ])("accepts the value of %s: %j", (path, value) => {
    expect(violationsOf(bodyWith(path, value))).toEqual([]);
  });

  it.each([
    ["platform", "Android", "value-not-allowed"],
    ["platform", "web", "value-not-allowed"],
    ["platform", "", "value-not-allowed"],
    ["platform", "android\0", "value-not-allowed"],
    ["observations.event_type", "device_intel", "value-not-allowed"],
    ["observations.event_type", "", "value-not-allowed"],
    ["observations.schema_version", 2, "value-not-allowed"],
    ["observations.schema_version", 0, "value-not-allowed"],
    ["observations.schema_version", 1.5, "value-not-allowed"],
    ["observations.schema_version", "1", "type-wrong"],
    ["observations.schema_version", true, "type-wrong"],
    ["observations.schema_version", null, "type-wrong"],
    ["observations.schema_version", [1], "type-wrong"],
  ])("rejects the value of %s: %j", (path, value, code) => {
    expect(violationsOf(bodyWith(path, value))).toEqual([`/${path.replaceAll(".", "/")} ${code}`]);
  });
});

describe("collected_at", () => {
  it.each(["", "yesterday", "2026-03-01", "2026-03-01T12:00:00", "2026-02-30T12:00:00Z", "1772366400000"])(
    "is not %j",
    (value) => {
      expect(violationsOf(bodyWith("observations.collected_at", value))).toEqual([
        "/observations/collected_at date-time-invalid",
      ]);
    },
  );

  it("is read to the microsecond", () => {
    const result = validateTransportRequest(bodyWith("observations.collected_at", "2026-03-01t13:00:00.1234567+01:00"));
    expect(result.ok && result.collectedAt).toEqual({ epochMs: Date.parse("2026-03-01T12:00:00.123Z"), micros: 456 });
  });
});

describe("the outcome of a probe", () => {
  const AT = "/observations/probes/p";

  it.each([
    `{"status":"success","data":{}}`,
    `{"data":{"x":[null,{"y":1}]},"status":"success"}`,
    `{"status":"skipped","reason":"disabled"}`,
    `{"status":"skipped","reason":"a reason of no vocabulary"}`,
    `{"status":"timeout"}`,
    `{"status":"error","error":"failed"}`,
  ])("may be %s", (outcome) => {
    expect(violationsOf(bodyWith("observations.probes.p", JSON.parse(outcome)))).toEqual([]);
  });

  it.each([
    [`{}`, [`${AT}/status member-missing`]],
    [`{"data":{}}`, [`${AT}/status member-missing`]],
    [`{"status":"ok","data":{}}`, [`${AT}/status value-not-allowed`]],
    [`{"status":"Success","data":{}}`, [`${AT}/status value-not-allowed`]],
    [`{"status":"","data":{}}`, [`${AT}/status value-not-allowed`]],
    [`{"status":["success"],"data":{}}`, [`${AT}/status type-wrong`]],
    [`{"status":"success"}`, [`${AT}/data member-missing`]],
    [`{"status":"success","data":null}`, [`${AT}/data type-wrong`]],
    [`{"status":"success","data":[]}`, [`${AT}/data type-wrong`]],
    [`{"status":"success","data":{},"durationMs":5}`, [`${AT}/durationMs member-unknown`]],
    [`{"status":"success","data":{},"reason":"x"}`, [`${AT}/reason member-unknown`]],
    [`{"status":"skipped","reason":1}`, [`${AT}/reason type-wrong`]],
    [`{"status":"skipped","reason":"x","data":{}}`, [`${AT}/data member-unknown`]],
    [`{"status":"skipped","error":"x"}`, [`${AT}/reason member-missing`, `${AT}/error member-unknown`]],
    [`{"status":"timeout","data":{}}`, [`${AT}/data member-unknown`]],
    [`{"status":"timeout","reason":null}`, [`${AT}/reason member-unknown`]],
    [`{"status":"error"}`, [`${AT}/error member-missing`]],
    [`{"status":"error","error":{"message":"x"}}`, [`${AT}/error type-wrong`]],
    [`{"status":"error","error":"x","stack":"y"}`, [`${AT}/stack member-unknown`]],
  ])("may not be %s", (outcome, violations) => {
    expect(violationsOf(bodyWith("observations.probes.p", JSON.parse(outcome)))).toEqual(violations);
  });
});

describe("all violations", () => {
  it("are found in one pass", () => {
    const body = {
      action_id: "",
      action_type: "a".repeat(65),
      sdk_version: 1,
      app_version: "\0",
      extra: {},
      observations: {
        client_id: "",
        event_type: "other",
        schema_version: "1",
        collected_at: "now",
        probes: { a: null, b: { status: "skipped" }, c: { status: "new" }, d: { status: "timeout", e: 1 } },
      },
    };
    expect(violationsOf(body).sort()).toEqual(
      [
        "/action_id too-short",
        "/action_type too-long",
        "/sdk_version type-wrong",
        "/platform member-missing",
        "/app_version character-not-allowed",
        "/extra member-unknown",
        "/observations/session_id member-missing",
        "/observations/client_id too-short",
        "/observations/event_type value-not-allowed",
        "/observations/schema_version type-wrong",
        "/observations/collected_at date-time-invalid",
        "/observations/probes/a type-wrong",
        "/observations/probes/b/reason member-missing",
        "/observations/probes/c/status value-not-allowed",
        "/observations/probes/d/e member-unknown",
      ].sort(),
    );
  });
});

describe("a request with thousands of violations", () => {
  const many = (value: unknown): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`m${index}`, value]));

  it.each([
    ["members of the transport object", { ...validRequest(), ...many(0) }],
    ["outcomes that are no objects", bodyWith("observations.probes", many(0))],
    ["outcomes without a status", bodyWith("observations.probes", many({}))],
    ["members of one outcome", bodyWith("observations.probes.p", { status: "timeout", ...many(0) })],
  ])("names the first 100 and says that there are more: %s", (_, body) => {
    const violations = violationsOf(body);
    expect(violations).toHaveLength(101);
    expect(violations.at(-1)).toBe(" more-errors");
    expect(violations[0]).toMatch(/m0/);
    expect(violations[99]).toMatch(/m99/);
  });
});

describe("a member name", () => {
  /** The body is parsed, because only a parser creates an own member with the name `__proto__`. */
  function bodyNaming(name: string, path: string, value: unknown): unknown {
    const text = JSON.stringify(bodyWith(path.replace("*", "PLACEHOLDER"), value));
    return JSON.parse(text.replace(`"PLACEHOLDER"`, JSON.stringify(name)));
  }

  describe.each(["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"])("%s", (name) => {
    it("is kept, as any other name is, where the contract allows unknown members", () => {
      for (const path of ["observations.*", "observations.probes.network.data.*"]) {
        expect(violationsOf(bodyNaming(name, path, { status: "bad" }))).toEqual([]);
      }
      const body = bodyNaming(name, "observations.probes.*", { status: "timeout" });
      expect(violationsOf(body)).toEqual([]);
      expect(JSON.stringify(body)).toContain(`"${name}":{"status":"timeout"}`);
    });

    it("is rejected, as any other name is, where the contract allows no unknown members", () => {
      expect(violationsOf(bodyNaming(name, "*", {}))).toEqual([`/${name} member-unknown`]);
      expect(violationsOf(bodyNaming(name, "observations.probes.fonts.*", {}))).toEqual([
        `/observations/probes/fonts/${name} member-unknown`,
      ]);
    });

    it("is not accepted as an outcome without a status, or as a status", () => {
      expect(violationsOf(bodyNaming(name, "observations.probes.*", {}))).toEqual([
        `/observations/probes/${name}/status member-missing`,
      ]);
      expect(violationsOf(bodyWith("observations.probes.fonts.status", name))).toEqual([
        "/observations/probes/fonts/status value-not-allowed",
      ]);
    });

    it("can't replace a required member", () => {
      const { action_id: _, ...rest } = validRequest();
      const text = JSON.stringify({ ...rest, PLACEHOLDER: { action_id: "lent" } });
      expect(violationsOf(JSON.parse(text.replace("PLACEHOLDER", name)))).toEqual([
        "/action_id member-missing",
        `/${name} member-unknown`,
      ]);
    });
  });

  it("is escaped in a pointer by RFC 6901", () => {
    expect(violationsOf(bodyNaming("a/b~c~1", "*", 1))).toEqual(["/a~1b~0c~01 member-unknown"]);
    expect(violationsOf(bodyNaming("~/", "observations.probes.*", 1))).toEqual([
      "/observations/probes/~0~1 type-wrong",
    ]);
    expect(violationsOf(bodyNaming("", "observations.probes.*", 1))).toEqual(["/observations/probes/ type-wrong"]);
  });

  it("of more than 128 characters is not in the pointer, which ends at its parent", () => {
    const name = "n".repeat(129);
    expect(violationsOf(bodyNaming(name, "*", 1))).toEqual([" member-unknown"]);
    expect(violationsOf(bodyNaming(name, "observations.probes.fonts.*", 1))).toEqual([
      "/observations/probes/fonts member-unknown",
    ]);
    for (const outcome of [1, {}, { status: 1 }, { status: "x" }, { status: "error" }, { status: "timeout", x: 1 }]) {
      const result = validateTransportRequest(bodyNaming(name, "observations.probes.*", outcome));
      expect(result.ok ? [] : result.errors.map(({ pointer }) => pointer)).toEqual(["/observations/probes"]);
      expect(JSON.stringify(result)).not.toContain("nnn");
    }
    expect(violationsOf(bodyNaming("n".repeat(128), "*", 1))).toEqual([`/${"n".repeat(128)} member-unknown`]);
  });
});

describe("an invalid value", () => {
  const paths = pathsOf(validRequest());
  const wrappings: ((marker: string) => unknown)[] = [
    (marker) => marker,
    (marker) => marker.repeat(10),
    (marker) => `\0${marker}`,
    (marker) => [marker],
    (marker) => ({ status: marker, data: marker, reason: [marker] }),
  ];

  it("is never repeated in the answer, at any place of the request", () => {
    let rejected = 0;
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.shuffledSubarray(paths, { minLength: 1 }),
        fc.constantFrom(...wrappings),
        (marker, chosen, wrap) => {
          const body = chosen.reduce<unknown>((request, path) => replaced(request, path, wrap(marker)), validRequest());
          const result = validateTransportRequest(body);
          if (result.ok) return;
          rejected++;
          expect(JSON.stringify(problemOf({ code: "request-invalid", errors: result.errors }))).not.toContain(marker);
        },
      ),
      { numRuns: 500 },
    );
    expect(rejected).toBeGreaterThan(400);
  });
});
