import { type ErrorItem, ErrorList, type ViolationCode } from "../errors.ts";
import { OUTCOME_STATUSES } from "../limits.ts";
import { pointerOf } from "../pointer.ts";
import { type Instant, parseDateTime } from "../timestamp.ts";
import { ENVELOPE, type MemberRule, type ObjectRule, OUTCOMES, TRANSPORT } from "./members.ts";
import type { TransportRequest } from "./transport.ts";

export type Validation =
  | { readonly ok: true; readonly request: TransportRequest; readonly collectedAt: Instant }
  | { readonly ok: false; readonly errors: readonly ErrorItem[] };

/**
 * Checks a parsed body against the wire rules: the transport object, the event envelope and the shape of each outcome.
 * The values that a successful probe observed are not checked (see `checkAgainstCatalog`). One pass over the body finds
 * every violation. It ends at violation 101, and an entry in place of this violation says that there are more.
 *
 * @param body a value as `JSON.parse` returns it, from a text without duplicate member names.
 */
export function validateTransportRequest(body: unknown): Validation {
  const pass: Pass = { errors: new ErrorList(), collectedAt: undefined };
  checkObject(pass, [], body, TRANSPORT_RULE);
  const errors = pass.errors.entries;
  if (errors.length > 0 || pass.collectedAt === undefined) return { ok: false, errors };
  return { ok: true, request: body as TransportRequest, collectedAt: pass.collectedAt };
}

/** The names of the members from the transport object down to a value. */
type Path = readonly string[];

interface Pass {
  readonly errors: ErrorList;
  collectedAt: Instant | undefined;
}

/**
 * An `ObjectRule` in the form that the validator needs. A `Map` has no rule for a member named `__proto__`, unlike an
 * object.
 */
interface PreparedRule {
  readonly open: boolean;
  readonly members: ReadonlyMap<string, MemberRule>;
  readonly required: readonly string[];
}

function prepareRule(rule: ObjectRule): PreparedRule {
  const members = new Map(Object.entries(rule.members));
  const required = [...members].filter(([, member]) => member.required).map(([name]) => name);
  return { open: rule.open, members, required };
}

const TRANSPORT_RULE = prepareRule(TRANSPORT);
const ENVELOPE_RULE = prepareRule(ENVELOPE);
const OUTCOME_RULES = new Map(Object.entries(OUTCOMES).map(([status, rule]) => [status, prepareRule(rule)]));

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function violation(pass: Pass, path: Path, code: ViolationCode, detail: string): void {
  pass.errors.add({ pointer: pointerOf(path), code, detail });
}

function checkObject(pass: Pass, path: Path, value: unknown, rule: PreparedRule): void {
  if (!isObject(value)) return violation(pass, path, "type-wrong", "must be an object");
  for (const name of rule.required) {
    if (!Object.hasOwn(value, name)) {
      violation(pass, [...path, name], "member-missing", `the required member ${name} is missing`);
    }
  }
  for (const name of Object.keys(value)) {
    if (pass.errors.full) return;
    const member = rule.members.get(name);
    if (member) checkMember(pass, [...path, name], value[name], member);
    else if (!rule.open) violation(pass, [...path, name], "member-unknown", "the contract has no such member here");
  }
}

function checkMember(pass: Pass, path: Path, value: unknown, rule: MemberRule): void {
  switch (rule.kind) {
    case "string":
      if (typeof value !== "string") return violation(pass, path, "type-wrong", "must be a string");
      if (value.length < rule.minLength) return violation(pass, path, "too-short", "must not be empty");
      if (rule.maxLength !== undefined && exceeds(value, rule.maxLength)) {
        violation(pass, path, "too-long", `must have at most ${rule.maxLength} characters`);
      }
      if (rule.promoted && value.includes("\0")) violation(pass, path, "character-not-allowed", "must not hold U+0000");
      return;
    case "enum":
      if (typeof value !== "string") return violation(pass, path, "type-wrong", "must be a string");
      if (!rule.values.includes(value)) {
        violation(pass, path, "value-not-allowed", `must be one of ${rule.values.join(", ")}`);
      }
      return;
    case "constant":
      if (value === rule.value) return;
      if (typeof value !== typeof rule.value) {
        return violation(pass, path, "type-wrong", `must be the ${typeof rule.value} ${rule.value}`);
      }
      return violation(pass, path, "value-not-allowed", `must be ${rule.value}`);
    case "date-time":
      if (typeof value !== "string") return violation(pass, path, "type-wrong", "must be a string");
      pass.collectedAt = parseDateTime(value);
      if (!pass.collectedAt) violation(pass, path, "date-time-invalid", "must be an RFC 3339 date-time with an offset");
      return;
    case "object":
      if (!isObject(value)) violation(pass, path, "type-wrong", "must be an object");
      return;
    case "event":
      return checkObject(pass, path, value, ENVELOPE_RULE);
    case "probes":
      return checkProbes(pass, path, value);
  }
}

function checkProbes(pass: Pass, path: Path, probes: unknown): void {
  if (!isObject(probes)) return violation(pass, path, "type-wrong", "must be an object");
  for (const id of Object.keys(probes)) {
    if (pass.errors.full) return;
    const outcome = probes[id];
    const outcomePath = [...path, id];
    if (!isObject(outcome)) {
      violation(pass, outcomePath, "type-wrong", "an outcome must be an object");
      continue;
    }
    const { status } = outcome;
    const rule = typeof status === "string" ? OUTCOME_RULES.get(status) : undefined;
    if (rule) checkObject(pass, outcomePath, outcome, rule);
    else if (!Object.hasOwn(outcome, "status"))
      violation(pass, [...outcomePath, "status"], "member-missing", "the required member status is missing");
    else if (typeof status !== "string") violation(pass, [...outcomePath, "status"], "type-wrong", "must be a string");
    else
      violation(pass, [...outcomePath, "status"], "value-not-allowed", `must be one of ${OUTCOME_STATUSES.join(", ")}`);
  }
}

/**
 * Whether a string has more than `maxLength` code points; counts them only if the length in code units does not decide.
 */
function exceeds(value: string, maxLength: number): boolean {
  if (value.length <= maxLength) return false;
  if (value.length > 2 * maxLength) return true;
  let points = 0;
  for (const _ of value) points++;
  return points > maxLength;
}
