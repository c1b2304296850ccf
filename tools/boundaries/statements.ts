/** Which tables the SQL in a text reads and changes, by the words that precede a table's name. */
export interface Access {
  readonly table: string;
  readonly changes: boolean;
}

const COMMENT = /--[^\n]*/g;
const NAMED = /\b(insert into|update|delete from|from|join|using)\s+(?:only\s+)?(?:drs\.)?([a-z_]+)\b/g;
const CHANGES = new Set(["insert into", "update", "delete from"]);
const STRING = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** @param tables the names that count. */
export function accessesIn(sql: string, tables: ReadonlySet<string>): readonly Access[] {
  return [...sql.replace(COMMENT, "").matchAll(NAMED)]
    .map(([, verb = "", table = ""]) => ({ table, changes: CHANGES.has(verb) }))
    .filter(({ table }) => tables.has(table));
}

/** The strings and templates of a TypeScript source, which may hold SQL. */
export function stringsOf(source: string): string {
  return [...source.matchAll(STRING)].map(([text]) => text).join("\n");
}
