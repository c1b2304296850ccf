/** The sizes of what a browser loads, with gzip. `npm run bench:console` prints them. */
import { expect, test } from "vitest";
import { measureBundle } from "../../../bench/src/console/bundle-sizes.ts";

test("the first page loads at most 130 KB of JavaScript, a further one 35 KB more, and 15 KB of CSS", async () => {
  const { first, further, css } = await measureBundle();
  const isWithin = (size: number, least: number, most: number): boolean => size >= least && size <= most;
  expect(first).toSatisfy((size) => isWithin(size, 50, 130));
  expect(further).toSatisfy(({ size }) => isWithin(size, 5, 35));
  expect(css).toSatisfy((size) => isWithin(size, 3, 15));
});
