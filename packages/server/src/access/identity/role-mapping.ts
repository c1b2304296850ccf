/** Maps claims of the identity provider to a person and roles, by a reviewed file. */
import { createHash } from "node:crypto";
import { type Role, ROLE_NAMES } from "@device-risk-signals/admin-api";
import { isMapping, readYaml, refuseUnknown, type ReportProblem } from "../../base/files/read-yaml.ts";

/**
 * Identifies a user at an identity provider permanently. A user name or an email address does not, because the provider
 * may give it to another person later.
 */
export interface Identity {
  readonly issuer: string;
  readonly sub: string;
}

export interface RoleMapping {
  /** Roles, by the value of the claim. */
  readonly roles: ReadonlyMap<string, readonly Role[]>;
  /** Names of people, by `identityKey`. */
  readonly people: ReadonlyMap<string, string>;
  /**
   * Whether a person may sign in with an identity that the file does not list. Each such identity counts as a separate
   * person.
   */
  readonly admitsUnlisted: boolean;
  /** The people whom earlier versions of the file listed, as far as this process has read them. */
  readonly former: ReadonlySet<string>;
}

export type RoleMappingResult =
  | { readonly ok: true; readonly mapping: RoleMapping }
  | { readonly ok: false; readonly problems: readonly string[] };

const ROLE_FILE_MEMBERS = ["roles", "people", "unlisted"];
const PERSON_MEMBERS = ["person", "identities"];
const IDENTITY_MEMBERS = ["issuer", "sub"];
/** The prefix of the names of unlisted people. No person of a role file has such a name. */
const UNLISTED_PERSON_PREFIX = "oidc-";
/** The name under which audit entries list sign-ins that were refused. No person signs in with this name. */
export const REFUSED_PERSON = `${UNLISTED_PERSON_PREFIX}refused`;
const MAX_PERSON = 128;
/** Entra omits the claim if it would have more values than this. Other providers may truncate the list. */
const MAX_VALUES = 200;

/** A short text that is unique to an identity, and does not contain its issuer or subject. */
export const identityKey = ({ issuer, sub }: Identity): string =>
  createHash("sha256")
    .update(JSON.stringify([issuer, sub]))
    .digest("hex");

/** Reads a role file (YAML 1.2). Reports all problems at once, each with its path in the file. */
export function readRoleMapping(text: string): RoleMappingResult {
  const yaml = readYaml(text);
  if (!yaml.ok) return yaml;
  const { content } = yaml;
  if (!isMapping(content)) {
    return { ok: false, problems: ["the file: must be a mapping with roles and people, without aliases"] };
  }
  const problems: string[] = [];
  const report: ReportProblem = (path, message) => void problems.push(`${path}: ${message}`);
  refuseUnknown(content, ROLE_FILE_MEMBERS, "", report);
  const { unlisted = "refuse" } = content;
  if (unlisted !== "refuse" && unlisted !== "admit") report("unlisted", "must be refuse or admit");
  const mapping = {
    roles: readRoles(content["roles"], report),
    people: readPeople(content["people"] ?? [], report),
    admitsUnlisted: unlisted === "admit",
    former: new Set<string>(),
  };
  return problems.length === 0 ? { ok: true, mapping } : { ok: false, problems };
}

function readRoles(value: unknown, report: ReportProblem): ReadonlyMap<string, readonly Role[]> {
  if (!isMapping(value) || Object.keys(value).length === 0) {
    report("roles", "must be a mapping of one value of the claim or more to lists of roles");
    return new Map();
  }
  return new Map(Object.entries(value).map(([name, roles]) => [name, readRoleList(roles, `roles.${name}`, report)]));
}

function readRoleList(value: unknown, path: string, report: ReportProblem): readonly Role[] {
  if (!Array.isArray(value) || value.length === 0) {
    report(path, "must be a list of one role or more");
    return [];
  }
  return value.flatMap((name: unknown, index) => {
    const role = ROLE_NAMES.find((known) => known === name);
    if (role === undefined) report(`${path}.${index}`, `is not a role; roles are ${ROLE_NAMES.join(", ")}`);
    return role ?? [];
  });
}

function readPeople(value: unknown, report: ReportProblem): ReadonlyMap<string, string> {
  const people = new Map<string, string>();
  const names = new Set<string>();
  if (!Array.isArray(value)) {
    report("people", "must be a list of people");
    return people;
  }
  for (const [index, member] of value.entries()) {
    const path = `people.${index}`;
    const person = readPerson(member, path, report);
    if (names.has(person.name)) report(`${path}.person`, "is listed twice: put the identities of one person together");
    names.add(person.name);
    for (const [at, identity] of person.identities.entries()) {
      const key = identityKey(identity);
      if (people.has(key)) report(`${path}.identities.${at}`, "is listed twice: an identity belongs to one person");
      people.set(key, person.name);
    }
  }
  return people;
}

function readPerson(value: unknown, path: string, report: ReportProblem) {
  const members = isMapping(value) ? value : {};
  if (!isMapping(value)) report(path, "must be a mapping");
  refuseUnknown(members, PERSON_MEMBERS, `${path}.`, report);
  const { person: name, identities } = members;
  if (!isPersonName(name)) {
    report(
      `${path}.person`,
      `must be 1 to ${MAX_PERSON} characters without parentheses, and not start with ${UNLISTED_PERSON_PREFIX}`,
    );
  }
  if (!Array.isArray(identities) || identities.length === 0) {
    report(`${path}.identities`, "must be a list of one identity or more");
  }
  const list: readonly unknown[] = Array.isArray(identities) ? identities : [];
  return {
    name: String(name),
    identities: list.map((identity, index) => readIdentity(identity, `${path}.identities.${index}`, report)),
  };
}

const isPersonName = (name: unknown): name is string =>
  typeof name === "string" &&
  /^[^()\p{Cc}]+$/u.test(name) &&
  name.trim() === name &&
  [...name].length <= MAX_PERSON &&
  !name.startsWith(UNLISTED_PERSON_PREFIX);

function readIdentity(value: unknown, path: string, report: ReportProblem): Identity {
  const members = isMapping(value) ? value : {};
  refuseUnknown(members, IDENTITY_MEMBERS, `${path}.`, report);
  const { issuer, sub } = members;
  for (const name of IDENTITY_MEMBERS) {
    const text = members[name];
    // YAML reads unquoted digits as a number, which could lose digits.
    if (typeof text !== "string" || text === "") report(`${path}.${name}`, "must be a text; put digits in quotes");
  }
  return { issuer: String(issuer), sub: String(sub) };
}

export type Claims = Readonly<Record<string, unknown>>;

/**
 * A person who signed in, or advice on what must change before this identity can sign in. Of the claims, the advice
 * contains at most issuer and subject, for the role file.
 */
export type Mapped =
  | ({ readonly ok: true } & Omit<SignedInSession, "identity">)
  | { readonly ok: false; readonly advice: string };

/** The claim of the ID token whose values the role file maps to roles. */
export interface RolesClaim {
  /** The name of the claim, or a path of names with dots between them. */
  readonly name: string;
  /** What separates the values if the claim is one text; `undefined`: the text is one value. */
  readonly separator: "space" | "comma" | undefined;
}

export function mapIdentity(mapping: RoleMapping, identity: Identity, claims: Claims, claim: RolesClaim): Mapped {
  const key = identityKey(identity);
  const listed = mapping.people.get(key);
  // guard(false): an identity that the file does not list may not sign in, unless the file admits unlisted ones
  if (listed === undefined && !mapping.admitsUnlisted) {
    return refused(
      `The role file does not list this identity: ${shownIdentity(identity)}. To let this person sign in, add it to the file.`,
    );
  }
  const values = valuesOf(claims, claim);
  if (!values.ok) return values;
  const granting = values.values.filter((value) => mapping.roles.has(value));
  const roles = ROLE_NAMES.filter((role) => granting.some((value) => mapping.roles.get(value)?.includes(role)));
  if (roles.length === 0) return refused(`The role file gives a role to no value of the claim ${claim.name}.`);
  return { ok: true, person: listed ?? unlistedName(key), roles, grants: granting.map(grantKey) };
}

/**
 * The identity as the role file lists it. With single quotes, the text needs no escapes in the JSON of a problem
 * document, so that it can be copied from there.
 */
const shownIdentity = ({ issuer, sub }: Identity): string => `{ issuer: ${quoted(issuer)}, sub: ${quoted(sub)} }`;

const quoted = (text: string): string =>
  /^[ -~]*$/.test(text) ? `'${text.replaceAll("'", "''")}'` : JSON.stringify(text);

const unlistedName = (key: string): string => `${UNLISTED_PERSON_PREFIX}${key.slice(0, 16)}`;

/** A session of a person who signed in. */
export interface SignedInSession {
  /** The `identityKey`. */
  readonly identity: string;
  readonly person: string;
  readonly roles: readonly Role[];
  /** The `grantKey` of each value of the claim that gave the roles. */
  readonly grants: readonly string[];
}

/** A hash of a value of the claim, which may be the subject of a person. */
const grantKey = (value: string): string => createHash("sha256").update(value).digest("hex");

/** Whether the mapping still gives a session its person, and its roles by the values that it had at the sign-in. */
export function isSessionGiven(mapping: RoleMapping, { identity, person, roles, grants }: SignedInSession): boolean {
  const name = mapping.people.get(identity) ?? (mapping.admitsUnlisted ? unlistedName(identity) : undefined);
  if (name !== person) return false;
  const given = new Set([...mapping.roles].flatMap(([value, of]) => (grants.includes(grantKey(value)) ? of : [])));
  return roles.every((role) => given.has(role));
}

/** The people of an admin token. */
export interface TokenPeople {
  readonly person: string;
  readonly obtained_by: string | null;
  /** Which of them a role file has listed, as the database says. */
  readonly listed: readonly string[];
}

/**
 * Whether the mapping still knows the people of an admin token. A machine, or a person whom no role file has ever
 * listed, needs no role file.
 */
export function areTokenPeopleGiven(mapping: RoleMapping, { person, obtained_by, listed }: TokenPeople): boolean {
  const isGiven = (name: string): boolean => {
    if (isListed(mapping, name)) return true;
    if (name.startsWith(UNLISTED_PERSON_PREFIX)) return mapping.admitsUnlisted;
    return !mapping.former.has(name) && !listed.includes(name);
  };
  return isGiven(person) && (obtained_by === null || isGiven(obtained_by));
}

/** The people whom an earlier version of the file listed, and the mapping does not. */
export const removedPeople = (mapping: RoleMapping): readonly string[] =>
  [...mapping.former].filter((person) => !isListed(mapping, person));

const isListed = ({ people }: RoleMapping, name: string): boolean => new Set(people.values()).has(name);

const refused = (advice: string) => ({ ok: false, advice }) as const;

const FEWER_GROUPS_ADVICE =
  "Let the identity provider send application roles, or only the groups that are assigned to this client.";

function valuesOf(
  claims: Claims,
  { name, separator }: RolesClaim,
): { ok: true; values: readonly string[] } | ReturnType<typeof refused> {
  // guard(false): an overage marker is no empty list of groups
  if (isOverage(claims, name))
    return refused(`The ID token has too many values of the claim ${name} to list. ${FEWER_GROUPS_ADVICE}`);
  const value = separated(claimAt(claims, name), separator);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (value === undefined || !values.every((item) => typeof item === "string")) {
    return refused(
      `The ID token has no claim ${name} with texts. Let the identity provider add it, or name another in DRS_OIDC_ROLES_CLAIM.`,
    );
  }
  // guard(false): a list that may have been cut off gives no role
  if (values.length > MAX_VALUES)
    return refused(`The claim ${name} has more than ${MAX_VALUES} values. ${FEWER_GROUPS_ADVICE}`);
  return { ok: true, values };
}

const SEPARATORS = { space: " ", comma: "," } as const;

const separated = (value: unknown, separator: RolesClaim["separator"]): unknown =>
  typeof value === "string" && separator ? value.split(SEPARATORS[separator]).map((one) => one.trim()) : value;

/**
 * The claim with this name, or the member at this path of names with dots between them: `realm_access.roles`. A name
 * may contain dots itself, such as that of a claim of Auth0 or of a client of Keycloak.
 */
export function claimAt(claims: unknown, path: string): unknown {
  if (!isMapping(claims)) return undefined;
  if (Object.hasOwn(claims, path)) return claims[path];
  for (const [name, value] of Object.entries(claims)) {
    const found = path.startsWith(`${name}.`) ? claimAt(value, path.slice(name.length + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Whether the claims contain one of Entra's overage markers. The marker `hasgroups` is about `groups` only:
 * https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference#groups-overage-claim
 */
function isOverage(claims: Claims, name: string): boolean {
  const names = claims["_claim_names"];
  if (isMapping(names) && Object.hasOwn(names, name)) return true;
  return name === "groups" && String(claims["hasgroups"]) === "true";
}
