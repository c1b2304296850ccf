/**
 * A request to paste that breaks one rule of the contract, so that a person sees the rejection and its words again. It has
 * values of this file and variables of the shell, and nothing that a client sent.
 */
import { PROBLEMS, VIOLATIONS } from "@device-risk-signals/contract/errors";
import { EVENT_TYPE, SCHEMA_VERSION } from "@device-risk-signals/contract/limits";

/** What was refused: codes and places, which are names of the contract. */
export interface RejectedRule {
  readonly problem: string;
  readonly cause: string | null;
  readonly violation: string | null;
  readonly place: string | null;
}

type Members = Record<string, unknown>;

/** What a request has; the default of each is right. */
interface Parts {
  readonly method: string;
  /** `undefined`: the header is left out. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

const validBody = (): Members & { observations: Members } => ({
  action_id: "$ACTION_ID",
  action_type: "$ACTION_TYPE",
  sdk_version: "1.0.0",
  platform: "android",
  app_version: "1.0.0",
  observations: {
    session_id: "$SESSION_ID",
    event_type: EVENT_TYPE,
    schema_version: SCHEMA_VERSION,
    collected_at: "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
    probes: {},
  },
});

const shown = (body: unknown): string => JSON.stringify(body, undefined, 2);

/** Probes whose outcome has the member. */
const OUTCOMES: Readonly<Record<string, () => Members>> = {
  reason: () => ({ status: "skipped", reason: "disabled" }),
  error: () => ({ status: "error", error: "example" }),
};

type Break = (parent: Members, name: string) => void;

const put =
  (value: unknown): Break =>
  (parent, name) =>
    void (parent[name] = value);

/** How the value at a place breaks the rule. */
const BREAKS: Readonly<Record<string, Break>> = {
  "member-missing": (parent, name) => void delete parent[name],
  "member-unknown": put("example"),
  "type-wrong": (parent, name) => void (parent[name] = typeof parent[name] === "string" ? 0 : "example"),
  "value-not-allowed": (parent, name) => void (parent[name] = typeof parent[name] === "number" ? 2 : "example"),
  "too-short": put(""),
  "too-long": put("x".repeat(300)),
  "character-not-allowed": put("\u0000"),
  "date-time-invalid": put("yesterday"),
  "catalog-departure": put({}),
};

/** Bodies that are no JSON text of the contract as a whole. */
const TEXTS: Readonly<Record<string, string>> = {
  "json-invalid": "{",
  "duplicate-member": '{"action_id": "one", "action_id": "two"}',
  "lone-surrogate": '{"action_id": "\\ud800"}',
  "number-overflow": '{"action_id": 1e999}',
  "nesting-too-deep": "[".repeat(65) + "]".repeat(65),
};

const at = (changes: Members, inObservations: Members = {}): Partial<Parts> => {
  const body = validBody();
  return { body: shown({ ...body, ...changes, observations: { ...body.observations, ...inObservations } }) };
};

const REQUESTS: Readonly<Record<string, (cause: string | null) => Partial<Parts> | undefined>> = {
  "method-not-allowed": () => ({ method: "PUT" }),
  "credentials-missing": () => ({ headers: { Authorization: undefined } }),
  "credentials-invalid": () => ({ headers: { Authorization: "Bearer no-token" } }),
  "idempotency-key-missing": () => ({ headers: { "Idempotency-Key": undefined } }),
  "idempotency-key-invalid": () => ({ headers: { "Idempotency-Key": "has a space" } }),
  "media-type-unsupported": () => ({ headers: { "Content-Type": "text/plain" } }),
  "encoding-unsupported": () => ({ headers: { "Content-Encoding": "br" } }),
  "body-corrupt": () => ({ headers: { "Content-Encoding": "gzip" } }),
  "collected-at-stale": () => at({}, { collected_at: "2020-01-01T00:00:00Z" }),
  "collected-at-future": () => at({}, { collected_at: "2100-01-01T00:00:00Z" }),
  "session-mismatch": () => at({}, { session_id: "another-session" }),
  "action-refused": (cause) =>
    cause === "other-type" ? at({ action_type: "another-type" }) : at({ action_id: "unknown-action" }),
};

/** @returns the parts that break the rule; `undefined` if no example can. */
function broken({ problem, cause, violation, place }: RejectedRule): Partial<Parts> | undefined {
  if (violation === null) return REQUESTS[problem]?.(cause);
  const text = TEXTS[violation];
  if (text !== undefined) return { body: text };
  const change = BREAKS[violation];
  if (!change || place === null) return undefined;
  const names = place.split("/").slice(1);
  const leaf = names.pop() ?? "";
  const body = validBody();
  const [, , probe, member] = [...names, leaf];
  if (names[1] === "probes" && probe !== undefined) {
    const outcome = OUTCOMES[member ?? ""]?.() ?? { status: "success", data: {} };
    body.observations["probes"] = { [nameOf(probe)]: outcome };
  }
  change(parentAt(body, names), nameOf(leaf));
  return { body: shown(body) };
}

/** `*` is in place of a name that the contract does not have. */
const nameOf = (token: string): string => (token === "*" ? "example" : token);

/** The object that has the last member of a place; it is made where the valid request lacks it. */
function parentAt(body: Members, names: readonly string[]): Members {
  let parent = body;
  for (const name of names.map(nameOf)) {
    if (typeof parent[name] !== "object") parent[name] = {};
    parent = parent[name] as Members;
  }
  return parent;
}

const HEADERS: Parts["headers"] = {
  Authorization: "Bearer $SESSION_TOKEN",
  "Idempotency-Key": "example-$(date +%s)",
  "Content-Type": "application/json",
};

/** Names of the contract and the catalog: the text is for a shell. */
const isPlace = (place: string): boolean => /^(\/([A-Za-z][A-Za-z0-9_]*|\*))+$/.test(place);

/** @returns `undefined` if a code or the place is none of the contract: a login of the database may have written it. */
export function exampleRequest(rejection: RejectedRule): string | undefined {
  const { problem, violation, place } = rejection;
  if (!Object.hasOwn(PROBLEMS, problem)) return undefined;
  if (violation !== null && !Object.hasOwn(VIOLATIONS, violation)) return undefined;
  // guard(false): nothing that a shell would run gets into the text
  if (place !== null && !isPlace(place)) return undefined;
  const { status, title } = PROBLEMS[problem as keyof typeof PROBLEMS];
  const parts = broken(rejection);
  const headers = Object.entries({ ...HEADERS, ...parts?.headers });
  const rule = [violation, place].filter((name) => name !== null).join(" at ");
  return [
    parts
      ? `# Is refused again: ${status} ${title}${rule === "" ? "" : `, ${rule}`}`
      : `# A valid request: whether it gets ${status} ${title} depends on the server.`,
    `: "\${ENDPOINT:=https://signals.example}" "\${SESSION_TOKEN:=application-session-token}"`,
    `: "\${ACTION_ID:=action-id}" "\${ACTION_TYPE:=action-type}" "\${SESSION_ID:=session-id}"`,
    `curl -i -X ${parts?.method ?? "POST"} "$ENDPOINT/api/v1/device-signal-events" \\`,
    ...headers.flatMap(([name, value]) => (value === undefined ? [] : [`  -H "${name}: ${value}" \\`])),
    "  --data-binary @- <<BODY",
    parts?.body ?? shown(validBody()),
    "BODY",
    "",
  ].join("\n");
}
