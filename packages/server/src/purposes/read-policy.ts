import { EXPORT_ATTRIBUTES, type ExportAttribute } from "@device-risk-signals/admin-api";
import { LIMITS } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { isMapping, readYaml, refuseUnknown, type ReportProblem } from "../base/files/read-yaml.ts";
import { endsNoLater, parsePeriod, type Period } from "./period.ts";
import { type Policy, type PurposeDefinition, REFUSE, SENSITIVITIES } from "./policy.ts";

const PURPOSE_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const MEMBERS = ["purposes", "actions", "unmapped"];
const TEXT_MEMBERS = ["title", "legal_basis", "owner"] as const;
const PERIODS = ["raw_retention", "derived_retention"] as const;
const PURPOSE_MEMBERS = [
  "id",
  ...TEXT_MEMBERS,
  ...PERIODS,
  "probes",
  "highest_sensitivity",
  "beyond",
  "export_attributes",
  "retired",
];
const PROBES = new Set(CATALOG.map(({ id }) => id));

export type PolicyResult =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads a policy file (YAML 1.2). Every problem is named at once, with its path. */
export function readPolicy(text: string): PolicyResult {
  const problems: string[] = [];
  const report: ReportProblem = (path, message) => void problems.push(`${path}: ${message}`);
  const yaml = readYaml(text);
  if (!yaml.ok) return yaml;
  const policy = readContent(yaml.content, report);
  return policy && problems.length === 0 ? { ok: true, policy } : { ok: false, problems };
}

function readContent(content: unknown, report: ReportProblem): Policy | undefined {
  if (!isMapping(content)) {
    report("the file", "must be a mapping with purposes, actions and unmapped, without aliases");
    return undefined;
  }
  refuseUnknown(content, MEMBERS, "", report);
  const { purposes, actions, unmapped } = content;
  if (!Array.isArray(purposes) || purposes.length === 0) report("purposes", "must be a list of one purpose or more");
  const list = Array.isArray(purposes) ? purposes : [];
  const read = list.map((purpose: unknown, index) => readPurpose(purpose, `purposes.${index}`, report));
  refuseRepeated(read, report);
  const policy = {
    purposes: read,
    actions: readActions(actions, read, report),
    unmapped: typeof unmapped === "string" ? unmapped : REFUSE,
  };
  if (typeof unmapped !== "string") report("unmapped", `must be ${REFUSE} or the id of a purpose`);
  else if (unmapped !== REFUSE) checkUnmapped(policy, report);
  return policy;
}

function refuseRepeated(purposes: readonly PurposeDefinition[], report: ReportProblem): void {
  const seen = new Set<string>();
  for (const [index, { id }] of purposes.entries()) {
    if (id !== "" && seen.has(id)) report(`purposes.${index}.id`, "is the id of another purpose of this file");
    seen.add(id);
  }
}

function readPurpose(value: unknown, path: string, report: ReportProblem): PurposeDefinition {
  const members = isMapping(value) ? value : {};
  if (!isMapping(value)) report(path, "must be a mapping");
  refuseUnknown(members, PURPOSE_MEMBERS, `${path}.`, report);
  const text = (name: string): string => {
    const found = members[name];
    if (typeof found === "string" && found.trim() !== "" && found.length <= 1_000) return found;
    report(`${path}.${name}`, "must be a text of 1 to 1,000 characters");
    return "";
  };
  const id = members["id"];
  if (typeof id !== "string" || !PURPOSE_ID.test(id) || id === REFUSE) {
    report(`${path}.id`, "must be 1 to 63 of a-z, 0-9, _ and -, beginning with a letter or digit, and not `refuse`");
  }
  for (const name of PERIODS) checkPeriod(members[name], `${path}.${name}`, report);
  const probes = readProbes(members["probes"], `${path}.probes`, report);
  const highest = readChoice(members["highest_sensitivity"], SENSITIVITIES, `${path}.highest_sensitivity`, report);
  const attributes = readAttributes(members["export_attributes"], `${path}.export_attributes`, report);
  const retired = members["retired"] ?? false;
  if (typeof retired !== "boolean") report(`${path}.retired`, "must be true or false");
  return {
    id: typeof id === "string" ? id : "",
    title: text("title"),
    legal_basis: text("legal_basis"),
    owner: text("owner"),
    raw_retention: String(members["raw_retention"]),
    derived_retention: String(members["derived_retention"]),
    ...(probes && { probes }),
    ...(highest && { highest_sensitivity: highest }),
    beyond: readChoice(members["beyond"], ["record", "refuse"] as const, `${path}.beyond`, report) ?? "record",
    ...(attributes && { export_attributes: attributes }),
    retired: retired === true,
  };
}

function checkPeriod(value: unknown, path: string, report: ReportProblem): void {
  if (typeof value === "string" && parsePeriod(value)) return;
  report(path, "must be an ISO 8601 duration such as P90D, P1Y or PT30S, of a second to a hundred years");
}

function readProbes(value: unknown, path: string, report: ReportProblem): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const known = Array.isArray(value) && value.every((probe) => typeof probe === "string" && PROBES.has(probe));
  if (!known) report(path, `must be a list of probe ids: ${[...PROBES].join(", ")}`);
  return known ? (value as string[]) : undefined;
}

function readAttributes(value: unknown, path: string, report: ReportProblem): readonly ExportAttribute[] | undefined {
  if (value === undefined) return undefined;
  const listed = Array.isArray(value) ? EXPORT_ATTRIBUTES.filter((name) => value.includes(name)) : [];
  if (Array.isArray(value) && listed.length === value.length) return listed;
  report(path, `must be a list of ${EXPORT_ATTRIBUTES.join(", ")}, each once`);
  return undefined;
}

function readChoice<T extends string>(
  value: unknown,
  all: readonly T[],
  path: string,
  report: ReportProblem,
): T | undefined {
  if (value === undefined) return undefined;
  const found = all.find((each) => each === value);
  if (found === undefined) report(path, `must be ${all.join(", ")}`);
  return found;
}

function readActions(
  value: unknown,
  purposes: readonly PurposeDefinition[],
  report: ReportProblem,
): Record<string, string> {
  if (!isMapping(value)) {
    report("actions", "must be a mapping of action types to purpose ids; {} for none");
    return {};
  }
  for (const [type, id] of Object.entries(value)) {
    const path = `actions.${type}`;
    if (type.length === 0 || [...type].length > LIMITS.actionType) {
      report(path, `an action type has 1 to ${LIMITS.actionType} characters`);
    }
    checkReference(id, purposes, path, report);
  }
  return value as Record<string, string>;
}

function checkReference(
  id: unknown,
  purposes: readonly PurposeDefinition[],
  path: string,
  report: ReportProblem,
): void {
  const purpose = purposes.find((each) => each.id === id);
  if (!purpose) report(path, "must be the id of a purpose of this file");
  else if (purpose.retired) report(path, "names a purpose that is retired");
}

/** The purpose of unmapped action types must have the shortest raw retention of all active purposes. */
function checkUnmapped({ purposes, unmapped }: Policy, report: ReportProblem): void {
  checkReference(unmapped, purposes, "unmapped", report);
  const own = purposes.find(({ id }) => id === unmapped);
  const periodOf = (purpose: PurposeDefinition | undefined): Period | undefined =>
    purpose && parsePeriod(purpose.raw_retention);
  const shortest = periodOf(own);
  if (!shortest) return;
  for (const purpose of purposes) {
    const period = periodOf(purpose);
    if (period && !purpose.retired && !endsNoLater(shortest, period)) {
      report("unmapped", `must name the purpose with the shortest raw_retention; that of ${purpose.id} is shorter`);
    }
  }
}
