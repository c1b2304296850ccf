import { expect, it } from "vitest";
import { type SessionVerifier, VerificationPending } from "../base/ports.ts";
import { authenticate } from "./authenticate.ts";
import { headersOf } from "./headers.fixture.ts";

const SESSION = { account: "customer-1" };
const GOOD = "good.token-_~+/==";

const verifier: SessionVerifier = {
  verify: async (token) => (token === GOOD ? SESSION : token === "no-account" ? { account: "" } : undefined),
};

/**
 * Returns the result for these `Authorization` headers. `wait` is the number of seconds that the throttle of failed
 * authentications returns.
 */
async function answerTo(authorization: string | readonly string[], wait = 0, sessions = verifier): Promise<unknown> {
  const body = { forEach: async () => "end" as const };
  const request = { method: "POST", headers: headersOf({ authorization }), body, peer: "192.0.2.1" };
  return authenticate(request, sessions, { take: () => wait });
}

const invalid = {
  rejection: { code: "credentials-invalid" },
  headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' },
};

it.each([`Bearer ${GOOD}`, `bearer  ${GOOD} `])("%j authenticates the account of the token", async (value) => {
  expect(await answerTo(value)).toBe(SESSION);
});

it("a request without credentials is rejected without an error code in the challenge", async () => {
  expect(await answerTo([])).toMatchObject({
    rejection: { code: "credentials-missing" },
    headers: { "WWW-Authenticate": "Bearer" },
  });
});

it.each([
  ["another scheme", `Basic ${GOOD}`],
  ["text before the scheme", `x Bearer ${GOOD}`],
  ["text after the token", `Bearer ${GOOD} x`],
  ["an unknown token", "Bearer unknown"],
  ["an account that is invalid", "Bearer no-account"],
  ["two headers", [`Bearer ${GOOD}`, `Bearer ${GOOD}`]],
])("%s is rejected with an error code in the challenge", async (_, value) => {
  expect(await answerTo(value)).toMatchObject(invalid);
});

it("the token of a header of more than 8,192 characters is not verified", async () => {
  const asked: string[] = [];
  const all: SessionVerifier = { verify: async (token) => (asked.push(token), SESSION) };
  for (const length of [8_185, 8_186]) await answerTo(`Bearer ${"a".repeat(length)}`, 0, all);
  expect(asked.map(({ length }) => length)).toEqual([8_185]);
});

it("a header that is too long has a cause, which a bad token lacks", async () => {
  expect(await answerTo(`Bearer ${"a".repeat(8_186)}`)).toMatchObject({ ...invalid, cause: "too-long" });
  expect(await answerTo("Bearer unknown")).toMatchObject({ ...invalid, cause: undefined });
});

it("a token whose key is not looked up yet gets 503 and counts as a failure of its address", async () => {
  const pending: SessionVerifier = { verify: () => Promise.reject(new VerificationPending(12)) };
  expect(await answerTo(`Bearer ${GOOD}`, 0, pending)).toMatchObject({
    rejection: { code: "unavailable" },
    headers: { "Retry-After": "12" },
  });
  expect(await answerTo(`Bearer ${GOOD}`, 7, pending)).toMatchObject({
    rejection: { code: "too-many-failures" },
    headers: { "Retry-After": "7" },
  });
});

it("a source address with too many failed authentications must wait, but its valid credentials pass", async () => {
  expect(await answerTo("Bearer unknown", 7)).toMatchObject({
    rejection: { code: "too-many-failures" },
    headers: { "Retry-After": "7" },
  });
  expect(await answerTo(`Bearer ${GOOD}`, 7)).toBe(SESSION);
});
