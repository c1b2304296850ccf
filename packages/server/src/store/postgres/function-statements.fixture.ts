/** The statements of the schema's functions that write. */
import type pg from "pg";

/** A function of the schema. */
export interface SchemaFunction {
  readonly name: string;
  readonly language: "sql" | "plpgsql";
  readonly arguments: string;
  readonly body: string;
}

export async function listFunctions(client: pg.Client): Promise<readonly SchemaFunction[]> {
  const { rows } = await client.query<SchemaFunction>(
    `select p.proname as name, l.lanname as language, p.prosrc as body,
        pg_get_function_identity_arguments(p.oid) as arguments
      from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = 'drs'::regnamespace order by 1`,
  );
  return rows;
}

const COMMENT = /--[^\n]*/g;
const WRITE = /\b(?:insert\s+into|delete\s+from|update\s+\S+(?:\s+\w+)?\s+set)\b/gi;
/** A statement that begins a part of a body, or follows a keyword of PL/pgSQL. */
const WRITING = /(?:^|\b(?:begin|then|else|loop)\b)\s*((?:with|insert|update|delete)\b[^]*)$/i;

/**
 * @returns the definition of a SQL function with the statements of a function that write. PostgreSQL parses the body of
 * a SQL function when it is created, that of a PL/pgSQL function when it runs. The variables become parameters.
 */
export function writesOf(fn: SchemaFunction): string {
  const body = fn.body.replaceAll(COMMENT, "");
  const [, declarations = ""] = /^\s*declare\b([^]*?)\bbegin\b/i.exec(body) ?? [];
  const counters = [...body.matchAll(/\bfor\s+(\w+)\s+in\s+\d/gi)].map(([, name]) => `${name} integer`);
  const declared = [...declarations.matchAll(/(\w+)\s+(?:constant\s+)?([\w[\]]+)[^;]*;/g)]
    .filter(([, , type]) => type !== "record")
    .map(([, name, type]) => `${name} ${type}`);
  const variables = [...declared, ...counters];
  const intoVariable = new RegExp(`\\binto\\s+(?:${variables.map((v) => v.split(" ")[0]).join("|")})\\b`, "gi");
  const statements = body
    .split(";")
    .flatMap((part) => WRITING.exec(part.trim())?.[1] ?? [])
    .map((statement) => (variables.length > 0 ? statement.replaceAll(intoVariable, "") : statement));
  const parameters = [fn.arguments, ...variables].filter((parameter) => parameter !== "");
  return `create function pg_temp.writes(${parameters.join(", ")}) returns void language sql as $writes$ ${statements.join(";\n")} $writes$`;
}

/** The number of INSERT, UPDATE and DELETE commands in a body. */
export const countWrites = ({ body }: SchemaFunction): number => body.replaceAll(COMMENT, "").match(WRITE)?.length ?? 0;
