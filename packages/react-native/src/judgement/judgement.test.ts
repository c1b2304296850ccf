import { expect, it } from "vitest";
import { mergeSources } from "./judgement.ts";

it("a source that several judgements need is requested once", () => {
  const merged = mergeSources([{ paths: ["/a", "/b"], maps: true }, { paths: ["/b", "/c"] }]);
  expect(merged).toEqual({ paths: ["/a", "/b", "/c"], maps: true });
});
