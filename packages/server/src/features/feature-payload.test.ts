import type { Result } from "@device-risk-signals/features";
import { expect, it } from "vitest";
import { decodeFeatures, decodeValues, encodeFeatures, SALT_BYTES } from "./feature-payload.ts";

const RESULTS: readonly Result[] = [
  { state: "observed", value: false, inputs: ["observed", "omitted:probe-absent"] },
  { state: "observed", value: 0, inputs: ["observed"] },
  { state: "observed", value: "observed", inputs: ["observed"] },
  { state: "omitted", inputs: ["omitted:field-absent"] },
  { state: "mixed", inputs: ["timeout", "departed:null"] },
  { state: "failed", failure: "threw", inputs: ["skipped:consent"] },
  { state: "masked", inputs: ["masked", "a state of later versions"] },
];
const SALT = Buffer.from("salt");
const HASH_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

it("features are the same after they were stored, with every state, and the fingerprint of the event", () => {
  const stored = encodeFeatures(Buffer.from("abc"), RESULTS, 3, SALT);
  expect(decodeFeatures(stored)).toEqual({ sha256: HASH_OF_ABC, policyVersion: 3, results: RESULTS });
  const values = RESULTS.map((result) => {
    return result.state === "observed" ? { state: result.state, value: result.value } : { state: result.state };
  });
  expect(decodeValues(stored)).toEqual(values);
});

it("the stored form does not change between versions", () => {
  expect(encodeFeatures(Buffer.from("abc"), RESULTS, 3, SALT).toString()).toBe(
    '["ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",[[0,[0,1],false],[0,[0],0],[0,[0],"observed"],[1,[2]],[8,[9,16]],[9,[6],"threw"],[5,[11,"a state of later versions"]]],3,"c2FsdA"]',
  );
});

it("takes few bytes for 25 features", () => {
  const result: Result = { state: "observed", value: true, inputs: ["observed", "observed"] };
  expect(
    encodeFeatures(
      Buffer.from("abc"),
      Array.from({ length: 25 }, () => result),
      3,
      Buffer.alloc(SALT_BYTES),
    ).length,
  ).toBeLessThan(480);
});
