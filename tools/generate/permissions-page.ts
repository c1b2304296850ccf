import {
  BASE_PATH,
  type Permission,
  PERMISSIONS,
  ROLE_NAMES,
  ROLES,
  type Route,
  ROUTE_IDS,
  routeOf,
  scopeOf,
} from "@device-risk-signals/admin-api";
import { code, table } from "./table.ts";

const SCOPES = {
  full: "yes",
  "with-approval": "with approval",
  pseudonyms: "pseudonyms",
  "low-and-medium": "low and medium sensitivity",
  "without-values": "without values",
  own: "own",
};

const ACCESS = { read: "reads", "audited-read": "reads; audited on the database, too", change: "changes" };

/** Describes the roles of the admin API, the permissions of each, and the operations that audit entries name. */
export function permissionsPage(): string {
  const roles = ROLE_NAMES.map((role) => [code(role), ROLES[role]]);
  const permissions = (Object.keys(PERMISSIONS) as Permission[]).map((permission) => {
    const cells = ROLE_NAMES.map((role) => {
      const scope = scopeOf(permission, [role]);
      return scope === undefined ? "–" : SCOPES[scope];
    });
    return [code(permission), PERMISSIONS[permission].meaning, ...cells];
  });
  const operations = ROUTE_IDS.map(routeOf)
    .toSorted((a, b) => (a.operation < b.operation ? -1 : 1))
    .map((route) => {
      const path = `${route.method} ${code(BASE_PATH + route.path)}`;
      return [code(route.operation), path, code(route.permission), accessOf(route)];
    });
  return `<!-- Generated from packages/admin-api by \`npm run generate\`. Do not edit. -->

# Roles and permissions

${table(["role", "task"], roles)}

${table(["permission", "allows to", ...ROLE_NAMES], permissions)}

*pseudonyms*: accounts, actions, sessions and idempotency keys are shown as keyed MACs, and not searched for. *own*: only what the caller did. *With
approval*: once another person with the role privacy has approved it. *Without values*: everything but values of features. Fields of
high sensitivity, and fields that the catalog does not know, are left out where the table says *low and medium
sensitivity*.

## Operations

Each call of an authenticated caller writes an audit entry with the operation of the route. A command that works on the
database writes an entry for each change. It writes an entry for a read only if the table says so.

${table(["operation", "route", "permission", "access"], operations)}
`;
}

const accessOf = ({ access, appliedBy }: Route): string =>
  appliedBy === undefined ? ACCESS[access] : `${ACCESS[access]}; applied by a worker`;
