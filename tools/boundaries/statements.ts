/** Finds the tables that the SQL in a text reads and changes, by the words before a table's name. */
export interface Access {
  readonly table: string;
  readonly changes: boolean;
}

const SQL_COMMENT = /--[^\n]*/g;
const NAMED_TABLE = /\b(insert into|copy|update|delete from|from|join|using)\s+(?:only\s+)?(?:drs\.)?([a-z_]+)\b/g;
const CHANGING_STATEMENT = new Set(["insert into", "copy", "update", "delete from"]);
const STRING_LITERAL = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** @param tables the names of tables to look for. */
export function accessesIn(sql: string, tables: ReadonlySet<string>): readonly Access[] {
  return [...sql.replace(SQL_COMMENT, "").matchAll(NAMED_TABLE)]
    .map(([, verb = "", table = ""]) => ({ table, changes: CHANGING_STATEMENT.has(verb) }))
    .filter(({ table }) => tables.has(table));
}

/** The strings and templates of a TypeScript source, which may contain SQL. */
export function stringsOf(source: string): string {
  return [...source.matchAll(STRING_LITERAL)].map(([text]) => text).join("\n");
}
