/** The sizes of what a browser loads, with gzip. `npm run bench:console` prints them. */
import { expect, test } from "vitest";
import { measureBundle } from "../../../bench/src/console/bundle-sizes.ts";

test("the first page loads at most 130 KB of JavaScript, a further one 35 KB more, and 15 KB of CSS", async () => {
  const { first, further, css } = await measureBundle();
  expect(first).toBeLessThanOrEqual(130);
  expect(further.size, further.name).toBeLessThanOrEqual(35);
  expect(css).toBeLessThanOrEqual(15);
});
