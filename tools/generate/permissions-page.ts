import { type Permission, PERMISSIONS, ROLE_NAMES, ROLES, scopeOf } from "@device-risk-signals/admin-api";

const SCOPES = {
  full: "yes",
  "with-approval": "with approval",
  pseudonyms: "pseudonyms",
  "low-and-medium": "low and medium sensitivity",
  "without-values": "without values",
  own: "own",
};

/** The roles of the admin API and the permissions of each. */
export function permissionsPage(): string {
  const roles = ROLE_NAMES.map((role) => `| \`${role}\` | ${ROLES[role]} |`);
  const permissions = (Object.keys(PERMISSIONS) as Permission[]).map((permission) => {
    const cells = ROLE_NAMES.map((role) => {
      const scope = scopeOf(permission, [role]);
      return scope === undefined ? "–" : SCOPES[scope];
    });
    return `| \`${permission}\` | ${PERMISSIONS[permission].meaning} | ${cells.join(" | ")} |`;
  });
  return `<!-- Generated from packages/admin-api by \`npm run generate\`. Do not edit. -->

# Roles and permissions

| role | task |
| --- | --- |
${roles.join("\n")}

| permission | allows to | ${ROLE_NAMES.join(" | ")} |
| --- | --- | ${ROLE_NAMES.map(() => "---").join(" | ")} |
${permissions.join("\n")}

*pseudonyms*: accounts, actions, sessions and idempotency keys are shown as keyed MACs, and not searched for. *own*: only what the caller did. *With
approval*: once another person with the role privacy has approved it. *Without values*: everything but values of features. Fields of
high sensitivity, and fields that the catalog does not know, are left out where the table says *low and medium
sensitivity*.
`;
}
