import { FUNCTION_GRANTS, type Grants, TABLE_GRANTS } from "../../packages/server/src/store/postgres/grants.ts";
import { type Role, ROLE_NAMES, ROLES } from "../../packages/server/src/store/postgres/roles.ts";
import { code, table } from "./table.ts";

const EMPTY_CELL = "–";

/** Describes the roles of the events' database and the privileges of each. */
export function databaseRolesPage(): string {
  const columns = ROLE_NAMES.map(code);
  const roles = ROLE_NAMES.map((role) => [code(role), ROLES[role]]);
  const tables = Object.entries(TABLE_GRANTS).map(([name, grants]) => {
    return [code(name), ...ROLE_NAMES.map((role) => cell(grants, role))];
  });
  const functions = Object.entries(FUNCTION_GRANTS)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, grantees]) => {
      const may = ROLE_NAMES.map((role) =>
        grantees.includes(role) || grantees.includes("public") ? "yes" : EMPTY_CELL,
      );
      return [code(name), ...may];
    });
  return `<!-- Generated from packages/server/src/store/postgres/grants.ts by \`npm run generate\`. Do not edit. -->

# Roles of the events' database

\`drs migrate\` creates these roles and grants them exactly what the tables list. A role owns nothing.
[Database and logins](operator/databases.md#logins-of-the-events) says which login gets which role.

${table(["role", "for"], roles)}

## Tables and views

No role but \`drs_service\` reads payloads of events or sealed values of features from a table or view. The columns are in \`grants.ts\`.

${table(["table or view", ...columns], tables)}

## Functions

Functions that run with the rights of the owner check in their own code what a caller may read or change.

${table(["function", ...columns], functions)}
`;
}

/** Maximum number of columns that a cell names. If there are more, the cell has their number. */
const MAX_NAMED = 3;

function cell(grants: Grants, role: Role): string {
  const shorten = (privilege: string): string =>
    privilege.replace(/\(.*\)/s, (list) => {
      const { length } = list.split(",");
      return length > MAX_NAMED ? `of ${length} columns` : list;
    });
  return grants[role]?.map(shorten).join("; ") ?? EMPTY_CELL;
}
