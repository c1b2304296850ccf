import { describe, expect, test } from "vitest";
import type { Caller } from "../access/identity/caller.ts";
import { requireRecentSignIn } from "./recent-sign-in.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const clock = { now: () => NOW };

function callerOf(authenticatedAt: string | null | undefined, via: Caller["via"] = "console"): Caller {
  const session = authenticatedAt === undefined ? {} : { session: { id: "s", authenticatedAt } };
  return { person: "j.doe", roles: ["privacy"], via, actor: "j.doe (x)", expiresAt: "", ...session };
}

describe("an operation that needs a recent sign-in", () => {
  test("accepts a proof of the last five minutes, and a command on the database", () => {
    expect(() => requireRecentSignIn(callerOf("2026-03-01T11:55:00Z"), clock)).not.toThrow();
    expect(() => requireRecentSignIn(callerOf("2026-03-01T11:58:00Z", "cli"), clock)).not.toThrow();
    expect(() => requireRecentSignIn(callerOf("2026-03-01T12:01:00Z"), clock), "a clock that is ahead").not.toThrow();
    expect(() => requireRecentSignIn(callerOf(undefined, "direct"), clock)).not.toThrow();
  });

  test.each([
    ["an older proof", callerOf("2026-03-01T11:54:59Z")],
    ["a sign-in in the future", callerOf("2026-03-01T12:01:01Z")],
    ["a sign-in whose time is unknown", callerOf(null)],
    ["an admin token", callerOf(undefined, "api")],
  ])("with %s is refused", (_, caller) => {
    expect(() => requireRecentSignIn(caller, clock)).toThrow(expect.objectContaining({ name: "AdminError" }));
  });
});
