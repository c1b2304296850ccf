import { type ErrorItem, parseDateTime } from "@device-risk-signals/contract";
import { describe, expect, it } from "vitest";
import type {
  ActionRefusal,
  ActionRegistry,
  AssignedPurpose,
  EventProbes,
  Purposes,
  RegisteredAction,
} from "../base/ports.ts";
import { admit, type AdmitOptions } from "./admit.ts";
import { RejectedRequest } from "./request.ts";

const NOW = Date.parse("2026-03-01T12:00:00.000Z");
const DAY_MS = 86_400_000;
const OPTIONS: AdmitOptions = { maxAge: DAY_MS, maxFuture: 300_000, sessionBinding: "record" };
const ACTION: RegisteredAction = { actionType: "payment", sessionId: "session-1", expiresAt: NOW + 1 };

interface Scene {
  readonly collectedAt?: number;
  readonly action?: RegisteredAction | ActionRefusal | undefined;
  readonly options?: Partial<AdmitOptions>;
  readonly purpose?: AssignedPurpose | undefined;
  readonly erased?: boolean;
  readonly adoptedErrors?: readonly ErrorItem[];
}

const PURPOSE: AssignedPurpose = { policyVersion: 0, code: 7, mapped: true };
const probes: EventProbes = {
  departures: () => [],
  outcomes: () => ({ known: new Uint8Array(), unknown: () => [], systemVersion: undefined }),
  areCovered: () => false,
  parsed: () => ({ fonts: { status: "success" } }),
};
const ATTRIBUTES = { actionId: "action-1", actionType: "payment", sessionId: "session-1" };

async function verdict(given: Scene = {}): Promise<unknown> {
  const result = await rejectionOf(given);
  return result instanceof RejectedRequest ? placesOf(result.rejection.errors) : result;
}

async function rejectionOf(given: Scene): Promise<unknown> {
  const { collectedAt = NOW, options = {} } = given;
  const action = "action" in given ? given.action : ACTION;
  const asked: unknown[] = [];
  const actions: ActionRegistry = {
    find: async (...args) => {
      asked.push(args);
      return action;
    },
  };
  const instant = parseDateTime(new Date(collectedAt).toISOString());
  if (!instant) throw new Error("no instant");
  const purposes: Purposes = {
    find: (actionType) => {
      expect(actionType).toBe("payment");
      return "purpose" in given ? given.purpose : PURPOSE;
    },
  };
  const accounts = { isRefused: () => given.erased ?? false };
  const ports = { actions, purposes, accounts };
  const valid = { attributes: ATTRIBUTES, collectedAt: instant, probes, adoptedErrors: given.adoptedErrors ?? [] };
  const result = await admit("customer-1", valid, NOW, ports, { ...OPTIONS, ...options });
  if (asked.length > 0) expect(asked).toEqual([["customer-1", "action-1", "session-1"]]);
  return result;
}

const placesOf = (errors: readonly ErrorItem[]): string[] => errors.map(({ code, pointer }) => `${code} ${pointer}`);

const ASSIGNED = { purpose: PURPOSE, beyondPurpose: false };
const ADMITTED = { assigned: ASSIGNED, sessionMismatch: false };
const STALE = ["collected-at-stale /observations/collected_at"];
const FUTURE = ["collected-at-future /observations/collected_at"];
const ACTION_REFUSED = ["action-refused /action_id"];

describe("the freshness of an event", () => {
  it.each([
    ["now", 0, ADMITTED],
    ["of the maximum age", -DAY_MS, ADMITTED],
    ["a millisecond older", -DAY_MS - 1, STALE],
    ["of 1970", -NOW, STALE],
    ["as far ahead as allowed", 300_000, ADMITTED],
    ["a millisecond further", 300_001, FUTURE],
    ["of the year 9999", 250_000_000_000_000, FUTURE],
  ])("depends on `collected_at`: %s", async (_, offset, expected) => {
    expect(await verdict({ collectedAt: NOW + offset })).toEqual(expected);
  });

  it("is checked against the configured limits", async () => {
    expect(await verdict({ collectedAt: NOW - 1, options: { maxAge: 0 } })).toEqual(STALE);
    expect(await verdict({ collectedAt: NOW + 1, options: { maxFuture: 0 } })).toEqual(FUTURE);
    expect(await verdict({ options: { maxAge: 0, maxFuture: 0 } })).toEqual(ADMITTED);
  });

  it("is checked after adopted fields", async () => {
    const error: ErrorItem = { code: "catalog-departure", pointer: "/observations", detail: "departs" };
    expect(await verdict({ collectedAt: 0, adoptedErrors: [error] })).toEqual(["catalog-departure /observations"]);
  });

  it("is checked before the action", async () => {
    expect(await verdict({ collectedAt: 0, action: undefined })).toEqual(STALE);
  });
});

describe("the action of an event", () => {
  it.each([
    ["is unknown", undefined, "unknown"],
    ["is another account's", "other-account", "other-account"],
    ["was revoked", "expired", "expired"],
    ["is of another type", { ...ACTION, actionType: "login" }, "other-type"],
    ["is of a type that differs in case", { ...ACTION, actionType: "Payment" }, "other-type"],
    ["has just expired", { ...ACTION, expiresAt: NOW }, "expired"],
    ["has long expired", { ...ACTION, expiresAt: 0 }, "expired"],
  ] as const)(
    "gets one and the same rejection when it %s, with the cause for the operator",
    async (_, action, cause) => {
      expect(await verdict({ action })).toEqual(ACTION_REFUSED);
      expect(await rejectionOf({ action })).toMatchObject({ cause });
    },
  );
});

describe("the session of an event", () => {
  const other = { ...ACTION, sessionId: "session-2" };
  const { sessionId: _, ...unbound } = ACTION;

  it.each([
    ["off", "its own", ACTION, ADMITTED],
    ["off", "another", other, ADMITTED],
    ["record", "its own", ACTION, ADMITTED],
    ["record", "another", other, { ...ADMITTED, sessionMismatch: true }],
    ["record", "none", unbound, ADMITTED],
    ["enforce", "its own", ACTION, ADMITTED],
    ["enforce", "another", other, ["session-mismatch /observations/session_id"]],
    ["enforce", "none", unbound, ADMITTED],
  ] as const)("is checked in the mode %s: an action registered for %s", async (sessionBinding, _, action, expected) => {
    expect(await verdict({ action, options: { sessionBinding } })).toEqual(expected);
  });
});

describe("the purpose of an event", () => {
  const coverage = (observed: object): string[] => {
    expect(observed).toBe(probes);
    return ["/observations/probes/fonts"];
  };

  it("must exist, and its absence is reported only if no earlier rule rejects the event", async () => {
    expect(await verdict({ purpose: undefined })).toEqual(["purpose-missing /action_type"]);
    expect(await verdict({ erased: true })).toEqual(["account-erased "]);
    expect(await verdict({ purpose: undefined, action: undefined })).toEqual(ACTION_REFUSED);
  });

  it("decides whether an event that contains more than the purpose covers is recorded or rejected", async () => {
    const recorded = { ...PURPOSE, coverage, beyond: "record" } as const;
    expect(await verdict({ purpose: recorded })).toEqual({
      ...ADMITTED,
      assigned: { purpose: recorded, beyondPurpose: true },
    });
    const covered = { ...PURPOSE, coverage: () => [], beyond: "refuse" } as const;
    expect(await verdict({ purpose: covered })).toEqual({ ...ADMITTED, assigned: { ...ASSIGNED, purpose: covered } });
    expect(await verdict({ purpose: { ...PURPOSE, coverage, beyond: "refuse" } })).toEqual([
      "purpose-exceeded /observations/probes/fonts",
    ]);
  });

  it("is compared with an event only until the answer's list of violations is full", async () => {
    function* endless(): Iterable<string> {
      for (;;) yield "/observations/probes/x";
    }
    const recorded = { ...PURPOSE, coverage: endless, beyond: "record" } as const;
    expect(await verdict({ purpose: recorded })).toMatchObject({ assigned: { beyondPurpose: true } });
    const rejected = await verdict({ purpose: { ...PURPOSE, coverage: endless, beyond: "refuse" } });
    expect(rejected).toHaveLength(101);
    expect(rejected).toContain("more-errors ");
  });
});

it("an error of the action registry is passed on", async () => {
  const away: ActionRegistry = { find: () => Promise.reject(new Error("away")) };
  const collectedAt = { epochMs: NOW, micros: 0 };
  const ports = { actions: away, purposes: { find: () => PURPOSE }, accounts: { isRefused: () => false } };
  const valid = { attributes: ATTRIBUTES, collectedAt, probes, adoptedErrors: [] };
  await expect(admit("a", valid, NOW, ports, OPTIONS)).rejects.toThrow("away");
});
