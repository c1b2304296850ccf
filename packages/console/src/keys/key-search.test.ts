import { expect, it } from "vitest";
import { keyInText } from "./key-search.ts";

const KEY = "7d3f0a1b2c3d4e5f60718293a4b5c6d7";

it("finds a key in what a person types, alone or after its account", () => {
  expect(keyInText(KEY)).toMatchObject({ key: KEY });
  expect(keyInText(KEY)?.account).toBeUndefined();
  expect(keyInText(`Jane Doe  ${KEY}`)).toMatchObject({ account: "Jane Doe", key: KEY });
  const key = "session-18-14-payment";
  expect(keyInText(`customer-18 ${key}`)).toMatchObject({ account: "customer-18", key });
});

it("takes an account, and an event id, for no key", () => {
  for (const text of [
    "4711",
    "customer-1",
    "Jane Doe",
    "session-18-14-payment",
    KEY.slice(1),
    `${KEY}0`,
    "01900000-0000-7000-8000-000000000000",
  ]) {
    expect(keyInText(text)).toBeUndefined();
  }
});
