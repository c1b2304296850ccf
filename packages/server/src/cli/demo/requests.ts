/** The requests of a demo, as the host client of an app would send them. */
import phonesByName from "./phones.json" with { type: "json" };
import { ACTION_TYPES, ERASED, NEW_PHONE_DAY, PHONES, type Rejected, type Release, RELEASES } from "./story.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Phone {
  readonly platform: string;
  readonly probes: Readonly<Record<string, { readonly data?: Fields }>>;
  /** Fields that differ on other days, by probe. */
  readonly changes: readonly Readonly<Record<string, Fields>>[];
}

const phones = phonesByName as unknown as Readonly<Record<string, Phone>>;

/** What an account does at a minute of a day. */
export interface Visit {
  readonly account: string;
  readonly day: number;
  readonly minute: number;
  readonly actionType: string;
  readonly actionId: string;
  readonly sessionId: string;
}

export const ACCOUNTS = PHONES.map((_, index) => `customer-${index + 1}`);

const indexOf = (account: string): number => ACCOUNTS.indexOf(account);

/** The visits of a day, in their order. Each account has one on four of ten days. */
export const visitsOf = (day: number): readonly Visit[] =>
  ACCOUNTS.filter((account, index) => (day * 7 + index * 3) % 10 < 4 && !(day > (ERASED[account] ?? day)))
    .map((account) => visitOf(account, day))
    .toSorted((one, other) => one.minute - other.minute);

export function visitOf(account: string, day: number): Visit {
  const index = indexOf(account);
  const actionType = ACTION_TYPES[(index + day) % ACTION_TYPES.length] ?? "";
  const name = `${index + 1}-${day + 1}`;
  const minute = 8 * 60 + ((index * 37 + day * 53) % 700);
  return { account, day, minute, actionType, actionId: `${actionType}-${name}`, sessionId: `session-${name}` };
}

export interface DemoRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Fields & { readonly observations: Fields };
}

/** The request of a visit. @param now milliseconds since the Unix epoch */
export function requestOf({ account, day, ...visit }: Visit, token: string, now: number): DemoRequest {
  const index = indexOf(account);
  const names = PHONES[index] ?? [];
  const phone = phones[names[day < NEW_PHONE_DAY ? 0 : names.length - 1] ?? ""];
  if (!phone) throw new Error(`phones.json lacks a phone of ${account}`);
  const release = releaseOf(index, day);
  return {
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      "Idempotency-Key": `${visit.sessionId}-${visit.actionType}`,
    },
    body: {
      action_id: visit.actionId,
      action_type: visit.actionType,
      sdk_version: release.sdkVersion,
      platform: phone.platform,
      app_version: release.appVersion,
      observations: {
        session_id: visit.sessionId,
        event_type: "device_intel_collection",
        schema_version: 1,
        collected_at: new Date(now).toISOString(),
        probes: probesOf(phone, day, release),
      },
    },
  };
}

/** The request with the members for which it is rejected, and with another idempotency key. */
export const changed = (
  request: DemoRequest,
  { headers, body, observations }: Pick<Rejected, "headers" | "body" | "observations">,
  key: string,
): DemoRequest => ({
  headers: { ...request.headers, "Idempotency-Key": key, ...headers },
  body: { ...request.body, ...body, observations: { ...request.body.observations, ...observations } },
});

/** A third of the accounts stay with the first release, and a third with the second one. */
const releaseOf = (index: number, day: number): Release =>
  RELEASES.findLast((release, at) => at <= index % RELEASES.length && release.day <= day) ?? RELEASES[0];

/** What a phone observes on a day, as a release reports it. */
function probesOf({ probes, changes }: Phone, day: number, { departures = {} }: Release): Fields {
  const later = changes[day % (changes.length + 1)] ?? {};
  const known = Object.entries(probes).map(([probe, outcome]) => {
    const { data } = outcome;
    const observed = data && { ...data, ...later[probe], ...departures[probe] };
    return [probe, { ...outcome, ...(observed && { data: observed }) }] as const;
  });
  const unknown = Object.entries(departures).filter(([probe]) => !Object.hasOwn(probes, probe));
  return Object.fromEntries([
    ...known,
    ...unknown.map(([probe, data]) => [probe, { status: "success", data }] as const),
  ]);
}
