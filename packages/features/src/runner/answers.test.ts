import { describe, expect, it } from "vitest";
import { readPart, readPlace } from "./answers.ts";

const answer = (cells: unknown, slow: unknown = [], left: unknown = [1], features: unknown = [1]): unknown => ({
  slow,
  cells: JSON.stringify(cells),
  left,
  features,
});
const ONE = { events: 1, features: 1, shares: 1 };

describe("a part of an answer of the process that computes features", () => {
  it("has a cell for each feature of each of its events", () => {
    const cells = [
      [[true], null],
      [["x".repeat(256)], "threw"],
      [[1.5], "time-limit"],
    ];
    const size = { events: 4, features: 2, shares: 2 };
    const part = { slow: [[1, 0]], cells, left: [0, -1.5], features: [2, -3] };
    expect(readPart(answer(cells, part.slow, part.left, part.features), size)).toEqual(part);
  });

  it.each<[what: string, answer: unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "x"],
    ["no cells", { slow: [], left: [1], features: [1] }],
    ["cells that are no JSON", { slow: [], cells: "[", left: [1], features: [1] }],
    ["no time", { slow: [], cells: "[]", features: [1] }],
    ["no time of features", { slow: [], cells: "[]", left: [1] }],
    ["the time of too many features", answer([], [], [1], [1, 1])],
    ["the time of too few accounts", answer([], [], [])],
    ["a time that is no number", answer([], [], [null])],
    ["too many events", answer([[[true]], [[true]]])],
    ["too few features", answer([[]])],
    ["too many features", answer([[[true], [true]]])],
    ["an unknown word", answer([["__proto__"]])],
    ["a long text", answer([[["x".repeat(257)]]])],
    ["an object", answer([[[{}]]])],
    ["two values", answer([[[1, 2]]])],
    ["no value", answer([[[]]])],
    ["a cell without an array", answer([[true]])],
    ["an event named by a text", answer([[[true]]], [[0, "__proto__"]])],
    ["a feature named by a text", answer([[[true]]], [["__proto__", 0]])],
    ["an event beyond the batch", answer([[[true]]], [[0, 1]])],
    ["a feature beyond the bundles", answer([[[true]]], [[1, 0]])],
    ["a negative index", answer([[[true]]], [[-1, 0]])],
    ["a pair of three", answer([[[true]]], [[0, 0, 0]])],
    ["slow features that are no list", answer([[[true]]], { length: 0 })],
  ])("with %s is no part", (_, given) => {
    expect(readPart(given, ONE)).toBeUndefined();
  });

  it("names what ended a process by a feature and an event of the batch", () => {
    expect(readPlace([0, 0], ONE)).toEqual([0, 0]);
    for (const place of [[0, 1], [1, 0], [0], "00", null]) expect(readPlace(place, ONE)).toBeUndefined();
  });
});
