import { expect, test } from "vitest";
import { describeBytes } from "./bytes.ts";

test.each([
  [0, "0 bytes"],
  [1_023, "1023 bytes"],
  [655_360, "640 KiB"],
  [1.55 * 1_024 ** 3, "1.6 GiB"],
  [2 * 1_024 ** 4, "2 TiB"],
])("%i bytes are written for people", (bytes, text) => {
  expect(describeBytes(bytes)).toBe(text);
});
