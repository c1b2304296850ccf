import { expect, test } from "vitest";
import { InFlight } from "./in-flight.ts";

test("calls with one name share a result only while the first call runs", async () => {
  const calls = new InFlight<number>();
  let made = 0;
  const call = async (): Promise<number> => ++made;
  expect(await Promise.all([calls.join("a", call), calls.join("a", call), calls.join("b", call)])).toEqual([1, 1, 2]);
  expect(await calls.join("a", call)).toBe(3);
});

test("all waiting calls get the error of a failed call, and a later call is made again", async () => {
  const calls = new InFlight<number>();
  const failing = Array.from({ length: 2 }, () => calls.join("a", () => Promise.reject(new TypeError("failed"))));
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await calls.join("a", async () => 1)).toBe(1);
});
