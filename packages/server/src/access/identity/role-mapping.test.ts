import { describe, expect, test } from "vitest";
import {
  areTokenPeopleGiven,
  identityKey,
  isSessionGiven,
  mapIdentity,
  readRoleMapping,
  type RoleMapping,
  type RolesClaim,
} from "./role-mapping.ts";

const ISSUER = "https://login.example";
const FILE = `
roles:
  drs-analysts: [analyst]
  drs-privacy: [privacy, auditor]
people:
  - person: j.doe
    identities:
      - { issuer: ${ISSUER}, sub: "1" }
      - { issuer: ${ISSUER}, sub: "2" }
`;

function mappingOf(text: string): RoleMapping {
  const result = readRoleMapping(text);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.mapping;
}

function problemsOf(text: string): readonly string[] {
  const result = readRoleMapping(text);
  return result.ok ? [] : result.problems;
}

const claimOf = (name: string, separator?: RolesClaim["separator"]): RolesClaim => ({ name, separator });

const signIn = (claims: Record<string, unknown>, sub = "1", file = FILE, claim = claimOf("groups")) =>
  mapIdentity(mappingOf(file), { issuer: ISSUER, sub }, claims, claim);

describe("a person who signs in", () => {
  test("has the roles of every value of the claim, each role once", () => {
    const groups = ["drs-analysts", "drs-privacy", "other"];
    expect(signIn({ groups })).toMatchObject({ ok: true, person: "j.doe", roles: ["analyst", "privacy", "auditor"] });
    expect(signIn({ groups: "drs-analysts" })).toMatchObject({ roles: ["analyst"] });
  });

  test("is the same person with each linked identity", () => {
    expect(signIn({ groups: ["drs-privacy"] }, "2")).toMatchObject({ person: "j.doe" });
  });

  test.each([
    ["the list of groups that Okta sends", { groups: ["drs-analysts"] }, "groups"],
    ["the one text", { groups: "drs-analysts" }, "groups"],
    ["the nested roles of Keycloak", { realm_access: { roles: ["drs-analysts"] } }, "realm_access.roles"],
    [
      "the roles of a Keycloak client",
      { resource_access: { drs: { roles: ["drs-analysts"] } } },
      "resource_access.drs.roles",
    ],
    [
      "the claim of Auth0 with a URL as its name",
      { "https://drs.example/roles": ["drs-analysts"] },
      "https://drs.example/roles",
    ],
    [
      "the roles of a Keycloak client with dots in its id",
      { resource_access: { "com.example": {}, "com.example.drs": { roles: ["drs-analysts"] } } },
      "resource_access.com.example.drs.roles",
    ],
    [
      "a member of a claim with a URL as its name",
      { "https://drs.example/auth": { roles: ["drs-analysts"] } },
      "https://drs.example/auth.roles",
    ],
  ])("gets roles from %s", (_, claims, claim) => {
    expect(signIn(claims, "1", FILE, claimOf(claim))).toMatchObject({ ok: true, roles: ["analyst"] });
  });

  test.each([
    ["space", "drs-analysts drs-privacy"],
    ["comma", "drs-analysts,drs-privacy"],
    ["comma", "drs-analysts, drs-privacy"],
  ] as const)("gets roles from one text whose values a %s separates: %s", (separator, groups) => {
    const roles = ["analyst", "privacy", "auditor"];
    expect(signIn({ groups }, "1", FILE, claimOf("groups", separator))).toMatchObject({ ok: true, roles });
    expect(signIn({ groups }), "a text is one value unless its separator is named").toMatchObject({ ok: false });
  });

  test("gets no role from a part of a value in a list, or from a part of a text with another separator", () => {
    const comma = claimOf("groups", "comma");
    expect(signIn({ groups: ["other,drs-analysts"] }, "1", FILE, comma)).toMatchObject({ ok: false });
    expect(signIn({ groups: "other drs-analysts" }, "1", FILE, comma)).toMatchObject({ ok: false });
  });

  test("gets roles from the path of a group, and none from a name that every object has", () => {
    const file = FILE.replace("drs-analysts", "/staff/drs-analysts");
    expect(signIn({ groups: ["/staff/drs-analysts"] }, "1", file)).toMatchObject({ ok: true });
    for (const claim of ["constructor.name", "groups.length", "groups.0"]) {
      expect(signIn({ groups: ["drs-analysts"] }, "1", FILE, claimOf(claim))).toMatchObject({ ok: false });
    }
  });

  test.each(["248289761001", "auth0|o'neil", 'a"b\\c', "a\n}: b"])(
    "with the subject %j that the file does not list is refused with the identity to copy into the file",
    (sub) => {
      const { advice } = signIn({ groups: ["drs-analysts"] }, sub) as { advice: string };
      const [, text = ""] = /this identity: (\{.*\})\. /.exec(advice) ?? [];
      const listed = person("j.doe", text).replace("{ a:", "{ drs-analysts:");
      expect(signIn({ groups: ["drs-analysts"] }, sub, listed)).toMatchObject({ ok: true, person: "j.doe" });
    },
  );

  test("sees an identity of plain characters without escapes, also in JSON", () => {
    const { advice } = signIn({}, "auth0|7") as { advice: string };
    expect(JSON.stringify(advice)).toContain(`{ issuer: '${ISSUER}', sub: 'auth0|7' }`);
  });

  test("with an identity that the file does not list is refused, unless the file admits such identities as separate people", () => {
    const claims = { groups: ["drs-analysts"] };
    expect(signIn(claims, "3")).toMatchObject({ ok: false });
    const admitted = signIn(claims, "3", `${FILE}unlisted: admit`);
    expect(admitted).toMatchObject({ ok: true, roles: ["analyst"] });
    expect((admitted as { person: string }).person).toMatch(/^oidc-[0-9a-f]{16}$/);
  });

  test.each([
    ["no claim", {}, "no claim groups"],
    ["a claim of another type", { groups: [1] }, "no claim groups"],
    ["a value that has no role", { groups: ["other"] }, "gives a role to no value"],
    ["Entra's overage marker", { _claim_names: { groups: "src1" } }, "too many values"],
    ["Entra's short overage marker", { hasgroups: true, groups: ["drs-analysts"] }, "too many values"],
    ["201 values", { groups: ["drs-analysts", ...Array.from({ length: 200 }, (_, n) => `g${n}`)] }, "more than 200"],
  ])("with %s is refused with advice", (_, claims, advice) => {
    expect(signIn(claims)).toEqual({ ok: false, advice: expect.stringContaining(advice) });
  });

  test("with Entra's short overage marker, which is about groups, has the application roles of another claim", () => {
    const claims = { hasgroups: true, _claim_names: { groups: "src1" }, roles: ["drs-analysts"] };
    expect(signIn(claims, "1", FILE, claimOf("roles"))).toMatchObject({ ok: true, roles: ["analyst"] });
  });

  test("gets no role from a value that names a member of Object.prototype", () => {
    expect(signIn({ groups: ["constructor", "__proto__"] })).toMatchObject({ ok: false });
  });
});

describe("a role file", () => {
  test.each([
    ["invalid YAML", "roles: [", /./],
    ["an alias", "a: &a {}\nroles: *a", /^the file: must be a mapping/],
    ["an unknown member", `${FILE}groups: {}`, /^groups: is not a member/],
    ["no roles", "people: []", /^roles: must be a mapping/],
    ["an unknown role", "roles: { a: [admin] }", /^roles\.a\.0: is not a role; roles are operator/],
    ["a value with no role", "roles: { a: [] }", /^roles\.a: must be a list/],
    ["people that are no list", "roles: { a: [analyst] }\npeople: {}", /^people: must be a list/],
    ["an unknown rule for unlisted people", `${FILE}unlisted: maybe`, /^unlisted: must be refuse or admit/],
    [
      "a subject without quotes",
      person("j", `{ issuer: ${ISSUER}, sub: 1 }`),
      /^people\.0\.identities\.0\.sub: .* quotes/,
    ],
    ["a name with parentheses", person("j (x", identity("1")), /^people\.0\.person: /],
    ["a name with the prefix of unlisted people", person("oidc-1", identity("1")), /^people\.0\.person: /],
    ["a person without an identity", person("j", ""), /^people\.0\.identities: must be a list/],
    [
      "an identity of two people",
      `${person("j", identity("1"))}\n  - { person: k, identities: [${identity("1")}] }`,
      /^people\.1\.identities\.0: is listed twice/,
    ],
    [
      "a person twice",
      `${person("j", identity("1"))}\n  - { person: j, identities: [${identity("2")}] }`,
      /^people\.1\.person: is listed twice/,
    ],
  ])("with %s is refused", (_, text, problem) => {
    expect(problemsOf(text)).toContainEqual(expect.stringMatching(problem));
  });

  test("has all of its problems reported at once", () => {
    expect(problemsOf("roles: { a: [admin], b: [] }\nunlisted: 1")).toHaveLength(3);
  });
});

function identity(sub: string): string {
  return `{ issuer: ${ISSUER}, sub: "${sub}" }`;
}

function person(name: string, identities: string): string {
  return `roles: { a: [analyst] }\npeople:\n  - { person: "${name}", identities: [${identities}] }`;
}

describe("a session", () => {
  const identity = { issuer: ISSUER, sub: "1" };
  const sessionOf = (groups: readonly string[], file = FILE, of = identity) => {
    const mapped = mapIdentity(mappingOf(file), of, { groups }, claimOf("groups"));
    if (!mapped.ok) throw new Error(mapped.advice);
    return { ...mapped, identity: identityKey(of) };
  };

  test("is given while the file gives its identity the same person, and its values the same roles", () => {
    const session = sessionOf(["drs-privacy", "other"]);
    const isGiven = (file: string): boolean => isSessionGiven(mappingOf(file), session);
    expect(isGiven(FILE)).toBe(true);
    expect(isGiven(FILE.replace("[analyst]", "[operator]")), "another value").toBe(true);
    expect(isGiven(FILE.replace("[privacy, auditor]", "[privacy, auditor, operator]")), "a further role").toBe(true);
    expect(isGiven(FILE.replace("[privacy, auditor]", "[privacy]")), "one role less").toBe(false);
    expect(isGiven(FILE.replace("[analyst]", "[auditor]").replace("[privacy, auditor]", "[privacy]"))).toBe(false);
    expect(isGiven(FILE.replace("j.doe", "a.smith")), "renamed").toBe(false);
    expect(isGiven(FILE.replace('sub: "1"', 'sub: "3"')), "removed").toBe(false);
  });

  test("of an unlisted identity is given while the file admits unlisted ones", () => {
    const admitting = `${FILE}unlisted: admit\n`;
    const session = sessionOf(["drs-analysts"], admitting, { issuer: ISSUER, sub: "9" });
    expect(isSessionGiven(mappingOf(admitting), session)).toBe(true);
    expect(isSessionGiven(mappingOf(FILE), session)).toBe(false);
  });
});

describe("an admin token", () => {
  const mapping = { ...mappingOf(FILE), former: new Set(["a.smith"]) };

  test.each([
    ["of a listed person", "j.doe", null, [], true],
    ["of a machine that no file has listed", "machine", null, [], true],
    ["that a listed person obtained for a machine", "machine", "j.doe", ["j.doe"], true],
    ["of a person whom this process has seen removed", "a.smith", null, [], false],
    ["of a person who was removed before this process started", "b.jones", null, ["b.jones"], false],
    ["that a removed person obtained", "machine", "b.jones", ["b.jones"], false],
    ["of an unlisted person, whom the file does not admit", "oidc-0123456789abcdef", null, [], false],
  ])("%s is given: %#", (_, person, obtained_by, listed, expected) => {
    expect(areTokenPeopleGiven(mapping, { person, obtained_by, listed })).toBe(expected);
  });
});
