import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field } from "@device-risk-signals/contract/catalog/declare";
import type { ManifestInput } from "@device-risk-signals/features";
import { readEvent } from "@device-risk-signals/features/readings";
import { describe, expect, it } from "vitest";
import { fullEvent } from "../../../../bench/src/full-event.ts";
import { unseenEvent } from "../../../../bench/src/unseen-event.ts";
import { BodyMaker } from "../../../scanner/src/mutated-body.fixture.ts";
import { type EventScanner, openScanner } from "@device-risk-signals/scanner";
import { parseEvent } from "./parse-event.ts";
import { createParserOf, type ParseEvent } from "./read-inputs.ts";

/** Every field of the catalog, and every member of an object. */
const INPUTS = CATALOG.flatMap((probe) => inputsBelow([probe.id], probe.fields, probe.performed?.field));

function inputsBelow(
  place: readonly string[],
  fields: Readonly<Record<string, Field>>,
  performedBy?: string,
): ManifestInput[] {
  return Object.entries(fields).flatMap(([name, { type, fields: below }]) => {
    const path = [...place, name];
    if (type === "object") return inputsBelow(path, below ?? {});
    return [{ name, path, type, sensitivity: "low", ...(performedBy !== undefined && { performedBy }) }];
  });
}

/** The number of events of which the scanner was certain. */
let scanned = 0;

function openCounting(): EventScanner {
  const scanner = openScanner();
  return {
    index: scanner.index,
    scanEvent: (exact) => {
      const scan = scanner.scanEvent(exact);
      if (scan) scanned++;
      return scan;
    },
  };
}

const parserOf = createParserOf((error) => expect.unreachable(String(error)), openCounting);
const parse = parserOf(INPUTS);

/** A member that no input names: only a parsed event has it. */
const UNASKED = { unasked: { status: "timeout" } };
const isScanned = (by: ParseEvent, exact: Buffer): boolean => !("unasked" in (by("android", exact)?.probes ?? UNASKED));

/** All readings of an event, by either parser. */
function readingsOf(by: ParseEvent, exact: Buffer, inputs = INPUTS): unknown {
  const parsed = by("android", exact);
  return parsed && inputs.map(readEvent(parsed));
}

const event = (probes: object): Buffer => Buffer.from(JSON.stringify({ ...fullEvent(1, new Date(0)), probes }));

describe("the parser of inputs", () => {
  it("reads the same values as from a parsed event", () => {
    const events = Array.from({ length: 20 }, (_, seed) =>
      [fullEvent, unseenEvent].map((make) => make(seed, new Date(seed))),
    );
    for (const one of events.flat()) {
      const exact = Buffer.from(JSON.stringify(one));
      expect(readingsOf(parse, exact)).toEqual(readingsOf(parseEvent, exact));
    }
  });

  it("reads only its inputs if it uses the scanner", () => {
    const exact = event({ os_integrity: { status: "success", data: { later: "a" } }, ...UNASKED });
    expect(parse("android", exact)?.probes).toEqual({ os_integrity: { status: "success", data: {} } });
  });

  it("reads the same values as from a parsed event if the event was changed anywhere", { timeout: 60_000 }, () => {
    const maker = new BodyMaker(1);
    const observations = /"observations"\s*:\s*(\{.*\})/s;
    let compared = 0;
    const before = scanned;
    while (compared < 300) {
      for (const body of maker.mutated()) {
        const text = observations.exec(body.toString("latin1"))?.[1];
        if (text === undefined) continue;
        // The texts end at the last brace of the body, or one before: only one of them may be an event.
        for (const cut of [text, text.slice(0, text.lastIndexOf("}"))]) {
          const exact = Buffer.from(cut, "latin1");
          expect(readingsOf(parse, exact), cut).toEqual(readingsOf(parseEvent, exact));
        }
        compared++;
      }
    }
    expect(scanned - before).toBeGreaterThan(compared / 4);
  });

  it("keeps outcomes without data apart, even if the contract does not know their reason", () => {
    const [{ id } = { id: "" }] = CATALOG;
    const outcomes = [
      ...["consent", "permission", "another"].map((reason) => ({ status: "skipped", reason })),
      { status: "timeout" },
      { status: "error", error: "exception" },
      { status: "success", data: {} },
    ];
    for (const outcome of outcomes) {
      const exact = event({ [id]: outcome });
      expect(readingsOf(parse, exact)).toEqual(readingsOf(parseEvent, exact));
    }
  });

  it("parses every event if one of the inputs is not in the catalog", () => {
    const input: ManifestInput = { name: "x", path: ["os_integrity", "later"], type: "string", sensitivity: "low" };
    const exact = event({ os_integrity: { status: "success", data: { later: "a" } } });
    expect(readingsOf(parserOf([...INPUTS, input]), exact, [input])).toEqual([{ state: "observed", value: "a" }]);
  });

  it("reports an error of the scanner, parses the event, and opens a new scanner for the next one", () => {
    const errors: unknown[] = [];
    const trap = new Error("unreachable");
    let opened = 0;
    const failing = createParserOf(
      (...error) => void errors.push(error),
      () => {
        const { index } = openScanner();
        if (opened++ > 0) return openScanner();
        return {
          index,
          scanEvent: () => {
            throw trap;
          },
        };
      },
    )(INPUTS);
    const exact = event({ ...fullEvent(1, new Date(0)).probes, ...UNASKED });
    expect([failing, failing].map((by) => isScanned(by, exact))).toEqual([false, true]);
    expect(errors).toEqual([[trap, "scan event"]]);
    expect(opened).toBe(2);
  });

  it("reports once that no scanner can be opened, and parses every event", () => {
    const errors: unknown[] = [];
    const missing = new Error("no such file");
    const unable = createParserOf(
      (error) => void errors.push(error),
      () => {
        throw missing;
      },
    );
    const exact = event(UNASKED);
    expect([unable(INPUTS), unable(INPUTS)].map((by) => isScanned(by, exact))).toEqual([false, false]);
    expect(errors).toEqual([missing]);
  });

  it.each(["", "{}", "[]", "{", '{"probes":null}'])("reads nothing of the text %j, which is no event", (text) => {
    expect(parse("android", Buffer.from(text))).toBe(parseEvent("android", Buffer.from(text)));
  });
});
