import { createSecretKey, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DataKeys } from "./data-keys.ts";

const MAX_KEYS = 50_000;
const KEY = createSecretKey(randomBytes(32));

describe("data keys", () => {
  it("are found by partition and account key, until the keys of the partition or the account key are dropped", () => {
    const keys = new DataKeys();
    keys.remember("p1", 10, "a", KEY);
    keys.remember("p1", 10, "b", KEY);
    keys.remember("p2", 20, "a", KEY);
    const rememberedKeys = (): string[] =>
      ["p1 a", "p1 b", "p2 a"].filter((name) => keys.find(...(name.split(" ") as [string, string])));
    expect([rememberedKeys(), keys.find("p2", "b")]).toEqual([["p1 a", "p1 b", "p2 a"], undefined]);
    keys.forgetEnded(9);
    expect(rememberedKeys()).toHaveLength(3);
    keys.dropKeys(["a", "unknown"]);
    expect(rememberedKeys()).toEqual(["p1 b"]);
    keys.forgetEnded(10);
    expect(rememberedKeys()).toEqual([]);
  });

  it("are limited in number: the oldest keys of the oldest partition are dropped first", () => {
    const keys = new DataKeys();
    keys.remember("old", 10, "first", KEY);
    keys.remember("old", 10, "second", KEY);
    for (let index = 2; index < MAX_KEYS; index++) keys.remember("new", 20, String(index), KEY);
    keys.remember("new", 20, "2", KEY);
    expect(keys.find("old", "first"), "the same key again is not one more").toBe(KEY);
    keys.remember("new", 20, "one more", KEY);
    expect(keys.find("old", "first")).toBeUndefined();
    keys.remember("new", 20, "two more", KEY);
    keys.remember("new", 20, "three more", KEY);
    expect([keys.find("old", "second"), keys.find("new", "2"), keys.find("new", "3")]).toEqual([
      undefined,
      undefined,
      KEY,
    ]);
  });
});
