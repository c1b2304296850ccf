import { describe, expect, it } from "vitest";
import { readComputed } from "./answers.ts";

const answer = (cells: unknown, slow: unknown = []): unknown => ({ slow, cells: JSON.stringify(cells) });

describe("an answer of the process that computes features", () => {
  it("has a cell for each feature of each event", () => {
    const cells = [
      [[true], null],
      [["x".repeat(256)], "threw"],
      [[1.5], "not-computed"],
    ];
    expect(readComputed(answer(cells, [[1, 0]]), 3, 2)).toEqual({ slow: [[1, 0]], cells });
  });

  it.each<[what: string, answer: unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "x"],
    ["an answer without cells", { slow: [] }],
    ["cells that are no JSON", { slow: [], cells: "[" }],
    ["too few events", answer([])],
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
  ])("with %s is no answer", (_, given) => {
    expect(readComputed(given, 1, 1)).toBeUndefined();
  });
});
