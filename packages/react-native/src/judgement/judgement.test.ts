import { expect, it } from "vitest";
import { mergeSources } from "./judgement.ts";

it("what several ask for is asked once", () => {
  const merged = mergeSources([{ paths: ["/a", "/b"], maps: true }, { paths: ["/b", "/c"] }]);
  expect(merged).toEqual({ paths: ["/a", "/b", "/c"], maps: true });
});
