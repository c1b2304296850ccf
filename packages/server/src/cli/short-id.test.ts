import type { Answer } from "@device-risk-signals/admin-api";
import { expect, it } from "vitest";
import type { Call } from "./call.ts";
import { fullIdOf, idOrEnd } from "./short-id.ts";

const ONE = "5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11";
const TWO = "2a1cd438-317b-4bfb-93fb-0f6a2f6f7c11";
const THREE = "c0742da8-5e87-4c44-bacb-dfe97530ee3d";
const TOKENS = { list: "listTokens", rows: "tokens", id: "token_id" } as const;

/** Answers a list of two pages. */
const call = (async (_id: string, { after }: { readonly after?: string }) =>
  (after === undefined
    ? { tokens: [{ token_id: ONE }, { token_id: THREE }], next: "more" }
    : { tokens: [{ token_id: TWO }], next: null }) as unknown as Answer<"listTokens">) as unknown as Call;

it("the end of an id is enough, on any page of the list", async () => {
  expect(await fullIdOf(call, TOKENS, "7530ee3d")).toBe(THREE);
  expect(await fullIdOf(call, TOKENS, "93fb-0f6a2f6f7c11")).toBe(TWO);
});

it("a full id is not looked up", async () => {
  const none = (() => Promise.reject(new Error("asked"))) as unknown as Call;
  expect(await fullIdOf(none, TOKENS, ONE)).toBe(ONE);
});

it("an end that several ids have is refused, and names them", async () => {
  await expect(fullIdOf(call, TOKENS, "2f6f7c11")).rejects.toMatchObject({
    code: "wrong-usage",
    message: `Several ids end with "2f6f7c11": ${ONE}, ${TWO}. Give more of its end.`,
  });
});

it("an end that no id has is not found", async () => {
  await expect(fullIdOf(call, TOKENS, "00000000")).rejects.toMatchObject({ code: "not-found" });
});

it.each(["7530ee3", "7530EE3x", "", "%530ee3d"])("%j is no end of an id", (text) => {
  expect(() => idOrEnd(text)).toThrow("at least its last eight characters");
});

it("an id in capitals is the same id", () => {
  expect([idOrEnd(ONE.toUpperCase()), idOrEnd("7530EE3D")]).toEqual([ONE, "7530ee3d"]);
});
