import type { Result } from "@device-risk-signals/features";
import { expect, it } from "vitest";
import { decodeFeatures, decodeValues, encodeFeatures, SALT_BYTES } from "./feature-payload.ts";

const RESULTS: readonly Result[] = [
  { state: "observed", value: false, inputs: ["observed", "omitted:probe-absent"] },
  { state: "observed", value: 0, inputs: ["observed"] },
  { state: "observed", value: "observed", inputs: ["observed"] },
  { state: "observed", value: 2 ** 53 - 1, inputs: [] },
  { state: "observed", value: -0.5, inputs: ["timeout", "timeout"] },
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
    return { state: result.state, value: result.state === "observed" ? result.value : null };
  });
  expect(decodeValues(stored)).toEqual(values);
});

it("the stored form does not change between versions", () => {
  const results =
    "09100400013003000050030" +
    "0086f627365727665643000ffffffffffffff0f400509bfe0000000000000010302080409105903060574687265770504" +
    "0bff1961207374617465206f66206c617465722076657273696f6e73";
  const stored = encodeFeatures(Buffer.from("abc"), RESULTS, 300, SALT);
  expect(stored.toString("hex")).toBe(`${HASH_OF_ABC}ac02${results}${SALT.toString("hex")}`);
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
  ).toBeLessThan(130);
});
