/** Bodies of requests: valid ones in any spelling, and ones that were changed anywhere. */
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field } from "@device-risk-signals/contract/catalog/declare";
import { OUTCOME_ERRORS, SKIPPED_REASONS } from "@device-risk-signals/contract";
import { fullEvent, Random } from "../../../bench/src/full-event.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json } | Spelled;

/** Text that is printed as it is. */
class Spelled {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const TIMES = [
  "2026-03-01T12:00:00.123Z",
  "2026-03-01t12:00:00z",
  "2026-03-01T12:00:00.1234567890+01:30",
  "2026-06-30T23:59:60Z",
  "2024-02-29T00:00:00-00:00",
];
const TEXTS = ["", "a", "é", "\u{1F600}", "\u0000", "a\nb", '"', "\\", "/", "\u2028", "x".repeat(40), "ab".repeat(100)];
const NUMBERS = ["0", "-0", "1.0", "1e2", "1E+2", "1.230e-5", "12345678901234567890", "5e-324", "1e-400", "1e299"];
const NAMES = ["__proto__", "constructor", "toString", "status", "data", "hasOwnProperty", "0", "", "isEmulator", "é"];

/** Values that break a rule somewhere, or are unusual. */
const JUNK: readonly Json[] = [
  null,
  true,
  0,
  "",
  [],
  {},
  [1, "a"],
  { a: { b: [] } },
  new Spelled("1e400"),
  new Spelled("-1e309"),
  new Spelled("1e308"),
  new Spelled(`1${"0".repeat(308)}`),
  new Spelled(`1${"0".repeat(309)}`),
  new Spelled("01"),
  new Spelled("1."),
  new Spelled(".5"),
  new Spelled("1e"),
  new Spelled("-"),
  new Spelled("+1"),
  new Spelled("1.e5"),
  new Spelled("nul"),
  new Spelled("True"),
  new Spelled("truefalse"),
  new Spelled("10"),
  new Spelled("1.0"),
  new Spelled("2"),
  new Spelled('"\\ud800"'),
  new Spelled('"\\udc00\\ud800"'),
  new Spelled('"\\udc00\\udc00"'),
  new Spelled("[1e-,1]"),
  new Spelled('"\\ud83d\\u0041"'),
  new Spelled('"\\ud83dx\\ude00"'),
  new Spelled('"\\ud83d\\ude00"'),
  new Spelled('"\\u00g0"'),
  new Spelled('"\\x41"'),
  new Spelled('"\\a"'),
  new Spelled('"\\'),
  new Spelled('"\u0001"'),
  new Spelled('"\t"'),
  new Spelled("[1,]"),
  new Spelled("[,1]"),
  new Spelled("[1 2]"),
  new Spelled('{"a":1,}'),
  new Spelled('{"a":1,"a":2}'),
  new Spelled('{"a":1,"\\u0061":2}'),
  new Spelled('{"long name of a member":1,"b":2,"long name of a member":3}'),
  new Spelled('{"a" 1}'),
  new Spelled("{1:1}"),
  new Spelled(`${"[".repeat(57)}${"]".repeat(57)}`),
  new Spelled(`${"[".repeat(58)}${"]".repeat(58)}`),
  new Spelled(`${"[".repeat(59)}${"]".repeat(59)}`),
  new Spelled(`${"[".repeat(60)}${"]".repeat(60)}`),
  new Spelled(`${"[".repeat(63)}${"]".repeat(63)}`),
  new Spelled(`${'{"a":'.repeat(57)}1${"}".repeat(57)}`),
  new Spelled(`${'{"a":'.repeat(58)}1${"}".repeat(58)}`),
  new Spelled(`${'{"a":'.repeat(59)}1${"}".repeat(59)}`),
  new Spelled(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`),
  new Spelled(`${'{"a":'.repeat(63)}1${"}".repeat(63)}`),
  "d\u{e9}sactiv\u{e9}",
  "success",
  "x".repeat(129),
  "é".repeat(129),
  "\u{1F600}".repeat(128),
  new Spelled(`"${"\\ud83d\\ude00".repeat(128)}"`),
  new Spelled(`"${"\\n".repeat(128)}"`),
  new Spelled(`"${"\\n".repeat(129)}"`),
  new Spelled('{"a\\n":1,"\\"":1,"\\\\":[]}'),
  new Spelled('{"a\\n":1,"a\\n":2}'),
  new Spelled('{"a/":1,"a\\/":2}'),
  new Spelled('{"a\\/":1,"\\u0061/":2}'),
  new Spelled('{"\\u0022":1,"\\"":2}'),
  new Spelled('{"\\u005c":1,"\\\\":2}'),
  new Spelled('{"\\u000a":1,"\\n":2}'),
  new Spelled('{"\\u00e9":1,"é":2}'),
  new Spelled('{"\\u0061":1,"b":2}'),
  "é".repeat(64),
  new Spelled('"a\\u0000"'),
  new Spelled('"dis\\u0061bled"'),
  new Spelled('"a \\"quoted\\" text"'),
  "android",
  "2026-02-30T12:00:00Z",
  { status: "success" },
  { status: "success", data: {}, error: "a" },
  { status: "timeout", reason: "a" },
  { status: "error", error: 1 },
];

/** Bytes and tokens that mean something in JSON or UTF-8. */
const TOKENS: readonly Buffer[] = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  " ",
  "\n",
  "-",
  "0",
  "1",
  ".",
  "e",
  "E",
  "u",
  "t",
  "n",
  "\u0000",
  "\u0001",
  "\\u0041",
  "\\ud800",
  "\\n",
  "\\q",
  "null",
  "true",
  "false",
  '""',
  "{}",
  "[]",
  '"a":1,',
  ',"status":"success"',
  '"data":{},',
  '"probes":{},',
  '"fonts":{"status":"timeout"},',
  "é",
  "\u{1F600}",
  "\u00a0",
  "\u2028",
  "\ufeff",
]
  .map((text) => Buffer.from(text))
  .concat(
    [
      [0x80],
      [0xff],
      [0xc0, 0x80],
      [0xc1, 0xbf],
      [0xc2],
      [0xe0, 0x80, 0x80],
      [0xe0, 0x9f, 0xbf],
      [0xe0, 0xa0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xed, 0x9f, 0xbf],
      [0xe2, 0x82],
      [0xf0, 0x8f, 0xbf, 0xbf],
      [0xf0, 0x90, 0x80, 0x80],
      [0xf4, 0x8f, 0xbf, 0xbf],
      [0xf4, 0x90, 0x80, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xf0, 0x9f, 0x98],
    ].map((bytes) => Buffer.from(bytes)),
  );

/** A small valid body with every kind of member. Bodies with one change are made of it. */
const SMALL: Json = {
  action_id: "action-1",
  action_type: "payment",
  sdk_version: "1.0.0",
  platform: "ios",
  app_version: "4.2",
  observations: {
    session_id: "session-1",
    client_id: "client-1",
    event_type: "device_intel_collection",
    schema_version: 1,
    collected_at: "2026-03-01T12:00:00.123Z",
    extra: { deep: [{ deeper: "é" }] },
    probes: {
      device_identity: {
        status: "success",
        data: {
          manufacturer: "a",
          model: "b",
          brand: "c",
          systemName: "d",
          systemVersion: "17.4",
          isTablet: false,
          androidBuild: { sdkInt: 34, supportedAbis: ["arm64-v8a"], novel: 1 },
        },
      },
      os_integrity: {
        status: "success",
        data: {
          isEmulator: false,
          isDebuggerAttached: false,
          developerModeEnabled: true,
          openReverseEngineeringPorts: [1],
        },
      },
      telephony: { status: "skipped", reason: "disabled" },
      audio_latency: { status: "timeout" },
      fonts: { status: "error", error: "native-failed" },
      novel: { status: "success", data: { a: -1.5e3, b: null } },
    },
  },
};

type Edit = (plain: string) => readonly string[];

/** Every text of a value in which one part was edited, at each place in turn. */
function* editedEverywhere(value: Json, edit: Edit): Iterable<string> {
  const plain = printPlainly(value);
  yield* edit(plain);
  if (typeof value !== "object" || value === null || value instanceof Spelled) return;
  if (isList(value)) {
    for (const [index, item] of value.entries()) {
      for (const text of editedEverywhere(item, edit)) {
        yield `[${value.map((other, at) => (at === index ? text : printPlainly(other))).join(",")}]`;
      }
    }
    return;
  }
  const members = Object.entries(value);
  const printed = members.map(([name, member]) => `${JSON.stringify(name)}:${printPlainly(member)}`);
  for (const [index, [name, member]] of members.entries()) {
    for (const text of editedEverywhere(member, edit)) {
      yield `{${printed.with(index, `${JSON.stringify(name)}:${text}`).join(",")}}`;
    }
    yield `{${[...printed, printed[index]].join(",")}}`;
    yield `{${printed.toSpliced(index, 1).join(",")}}`;
  }
  yield `{${[...printed, '"another":1'].join(",")}}`;
  yield `{${[...printed, '"another":1', '"another":{}'].join(",")}}`;
  yield `{${[...printed, '"\\u0061nother":1', '"another":{}'].join(",")}}`;
}

const printPlainly = (value: Json): string => (value instanceof Spelled ? value.text : JSON.stringify(value));

/** The small body with each unusual value at each place, and with each member missing, twice, or one more. */
export function* bodiesWithOneValueChanged(): Iterable<Buffer> {
  const junk = JUNK.map(printPlainly);
  for (const text of editedEverywhere(SMALL, () => junk)) yield Buffer.from(text);
}

/** The small body with each token inserted at every second place. */
export function* bodiesWithOneTokenMore(): Iterable<Buffer> {
  const body = Buffer.from(JSON.stringify(SMALL));
  for (const [index, token] of TOKENS.entries()) {
    for (let at = index % 2; at <= body.length; at += 2) {
      yield Buffer.concat([body.subarray(0, at), token, body.subarray(at)]);
    }
  }
}

const COPIES = 7;

/** The probability that a printed value or object is made invalid; 0 for a valid body. */
interface Rates {
  readonly junk: number;
}

export class BodyMaker {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  /** A valid body, in any spelling. */
  valid(): Buffer {
    return Buffer.from(this.#print(this.#request(), { junk: 0 }));
  }

  /** One body that may be changed in its values, then copies of this body that are changed in their bytes. */
  *mutated(): Iterable<Buffer> {
    const random = this.#random;
    const body = Buffer.from(this.#print(this.#request(), { junk: random.pick([0, 0.003, 0.02]) }));
    yield body;
    for (let copy = 0; copy < COPIES; copy++) {
      let bytes: Buffer = body;
      for (let edit = 1 + random.below(2); edit > 0; edit--) bytes = this.#edit(bytes);
      yield bytes;
    }
  }

  #edit(bytes: Buffer): Buffer {
    const random = this.#random;
    const at = random.below(bytes.length + 1);
    const token = random.pick(TOKENS);
    switch (random.below(6)) {
      case 0:
        return Buffer.concat([bytes.subarray(0, at), token, bytes.subarray(at)]);
      case 1:
        return Buffer.concat([bytes.subarray(0, at), token, bytes.subarray(at + token.length)]);
      case 2:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(4))]);
      case 3: {
        const from = random.below(bytes.length + 1);
        return Buffer.concat([
          bytes.subarray(0, at),
          bytes.subarray(from, from + random.below(40)),
          bytes.subarray(at),
        ]);
      }
      case 4:
        return random.chance(0.2) ? bytes.subarray(0, at) : Buffer.concat([bytes, token]);
      default: {
        const copy = Buffer.from(bytes);
        if (at < copy.length) copy[at] = random.below(256);
        return copy;
      }
    }
  }

  #request(): Json {
    const random = this.#random;
    return {
      action_id: this.#plainText(128),
      action_type: random.pick(["payment", "login", "é", "x".repeat(64)]),
      sdk_version: random.pick(["1.0.0", "1.4.2-beta.1", "x"]),
      platform: random.pick(["android", "ios"]),
      ...(random.chance(0.7) && { app_version: random.pick(["", "4.2", "é".repeat(32)]) }),
      observations: this.#event(),
    };
  }

  #event(): Json {
    const random = this.#random;
    const head = {
      session_id: this.#plainText(128),
      ...(random.chance(0.5) && { client_id: this.#nonEmptyText() }),
      event_type: "device_intel_collection",
      schema_version: 1,
      collected_at: random.pick(TIMES),
      ...(random.chance(0.1) && { [`x${this.#name()}`]: this.#value(2) }),
    };
    if (random.chance(0.02)) return { ...head, probes: fullEvent(random.below(1_000_000), new Date(0)).probes as Json };
    const probes: [string, Json][] = [];
    for (let count = random.below(5); count > 0; count--) {
      const probe = random.pick(CATALOG);
      probes.push([probe.id, this.#outcome(probe.fields)]);
    }
    if (random.chance(0.15)) probes.push([this.#name(), this.#outcome({})]);
    return { ...head, probes: objectOf(probes) };
  }

  #outcome(fields: Readonly<Record<string, Field>>): Json {
    const random = this.#random;
    switch (random.below(6)) {
      case 0:
        return { status: "timeout" };
      case 1:
        return { status: "skipped", reason: random.chance(0.6) ? random.pick(SKIPPED_REASONS) : this.#text() };
      case 2:
        return { status: "error", error: random.chance(0.6) ? random.pick(OUTCOME_ERRORS) : this.#text() };
      default:
        return { status: "success", data: this.#data(fields) };
    }
  }

  #data(fields: Readonly<Record<string, Field>>): Json {
    const random = this.#random;
    const share = random.pick([0.05, 0.3, 1]);
    const data: [string, Json][] = [];
    for (const [name, field] of Object.entries(fields)) {
      if (!random.chance(field.required ? 0.95 : share)) continue;
      data.push([name, random.chance(0.02) ? this.#value(2) : this.#fieldValue(field)]);
    }
    if (random.chance(0.1)) data.push([this.#name(), this.#value(3)]);
    return objectOf(data);
  }

  #fieldValue({ type, fields }: Field): Json {
    const list = (make: () => Json): Json => Array.from({ length: this.#random.below(4) }, make);
    switch (type) {
      case "string":
        return this.#random.chance(0.3) ? `${this.#random.below(30)}.${this.#random.below(9)}` : this.#text();
      case "number":
        return this.#number();
      case "boolean":
        return this.#random.chance(0.5);
      case "string[]":
        return list(() => this.#text());
      case "number[]":
        return list(() => this.#number());
      case "object":
        return this.#data(fields ?? {});
    }
  }

  #value(depth: number): Json {
    const random = this.#random;
    switch (random.below(depth > 0 ? 7 : 4)) {
      case 0:
        return this.#text();
      case 1:
        return this.#number();
      case 2:
        return random.chance(0.5);
      case 3:
        return null;
      case 4:
        return Array.from({ length: random.below(4) }, () => this.#value(depth - 1));
      default:
        return objectOf(Array.from({ length: random.below(4) }, () => [this.#name(), this.#value(depth - 1)]));
    }
  }

  #number(): Json {
    return this.#random.chance(0.3) ? new Spelled(this.#random.pick(NUMBERS)) : this.#random.below(100_000) / 8;
  }

  #text(): string {
    return this.#random.chance(0.4) ? this.#random.pick(TEXTS) : this.#random.hex(this.#random.below(40));
  }

  #nonEmptyText(): string {
    return `${this.#random.pick(TEXTS)}c`;
  }

  /** A text that may be promoted: it has no escape when printed plainly. */
  #plainText(most: number): string {
    return this.#random.chance(0.1) ? this.#random.pick(["é", "\u{1F600}", "y".repeat(most)]) : this.#random.uuid();
  }

  #name(): string {
    return this.#random.chance(0.3) ? this.#random.pick(NAMES) : this.#random.hex(1 + this.#random.below(20));
  }

  #print(value: Json, rates: Rates): string {
    const random = this.#random;
    if (rates.junk > 0 && random.chance(rates.junk)) return this.#print(random.pick(JUNK), { junk: 0 });
    if (value instanceof Spelled) return value.text;
    if (typeof value === "string") return this.#string(value, value.length > 0 && random.chance(0.0005));
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    if (isList(value)) return `[${this.#joined(value.map((item) => this.#print(item, rates)))}]`;
    let members = Object.entries(value as Readonly<Record<string, Json>>).map(([name, member]): [string, Json] => [
      name,
      member,
    ]);
    if (random.chance(0.2)) members = members.toSorted(() => random.next() - 0.5);
    if (rates.junk > 0 && random.chance(rates.junk)) members = this.#spoil(members);
    return `{${this.#joined(
      members.map(([name, member]) => {
        const isEscaped = rates.junk > 0 && random.chance(rates.junk / 20);
        return `${this.#string(name, isEscaped)}${this.#space()}:${this.#space()}${this.#print(member, rates)}`;
      }),
    )}}`;
  }

  #spoil(members: readonly [string, Json][]): [string, Json][] {
    const random = this.#random;
    const at = random.below(members.length + 1);
    const one = members[random.below(members.length)] ?? ["a", 1];
    switch (random.below(4)) {
      case 0:
        return members.toSpliced(at, 1);
      case 1:
        return members.toSpliced(at, 0, one);
      case 2:
        return members.toSpliced(at, 0, [one[0], random.pick(JUNK)]);
      default:
        return members.toSpliced(at, 0, [random.pick([...NAMES, "reason", "error", "probes"]), random.pick(JUNK)]);
    }
  }

  #joined(parts: readonly string[]): string {
    return `${this.#space()}${parts.join(`${this.#space()},${this.#space()}`)}${this.#space()}`;
  }

  #space(): string {
    return this.#random.chance(0.9) ? "" : this.#random.pick([" ", "\n", "\t", "\r\n", "   "]);
  }

  #string(text: string, isEscaped: boolean): string {
    if (!isEscaped) return JSON.stringify(text);
    return `"${text.replaceAll(/[^]/g, (unit) =>
      this.#random.chance(0.3)
        ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
        : JSON.stringify(unit).slice(1, -1),
    )}"`;
  }
}

/** An object from entries, so that "__proto__" is a member like any other. */
const objectOf = (members: readonly (readonly [string, Json])[]): Json => Object.fromEntries(members);

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
