import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { SERVER, sourceFiles } from "./imports.ts";
import { accessesIn, stringsOf } from "./statements.ts";
import { ACCOUNT_DATA, FUNCTIONS, TABLES } from "./tables.ts";

const names = new Set(Object.keys(TABLES));
const snapshot = readFileSync(join(SERVER, "store/postgres/schema.snapshot"), "utf8");

/** Accesses from files outside the owner's folder, as `table file`. */
const foreign = (changes: boolean): readonly string[] =>
  sourceFiles()
    .flatMap((file) =>
      accessesIn(stringsOf(readFileSync(join(SERVER, file), "utf8")), names)
        .filter((access) => access.changes === changes && TABLES[access.table]?.owner !== dirname(file))
        .map(({ table }) => `${table} ${file}`),
    )
    .filter((access, index, all) => all.indexOf(access) === index)
    .toSorted();

const listed = (of: "readers" | "writers"): readonly string[] =>
  Object.entries(TABLES)
    .flatMap(([table, exceptions]) => Object.keys(exceptions[of] ?? {}).map((file) => `${table} ${file}`))
    .toSorted();

describe("the tables", () => {
  it("have one owner each, which is a folder of the server", () => {
    const [, tables = ""] = /^# tables\n([^#]*)/m.exec(snapshot) ?? [];
    const existing = [...tables.matchAll(/^\w+/gm)].map(([name]) => name);
    expect(existing.toSorted()).toEqual([...names].toSorted());
    const folders = new Set(sourceFiles().map((file) => dirname(file)));
    expect(Object.values(TABLES).filter(({ owner }) => !folders.has(owner))).toEqual([]);
  });

  it("that name an account have an entry for erasures and exports", () => {
    const [, columns = ""] = /^# columns\n([^#]*)/m.exec(snapshot) ?? [];
    const naming = [...columns.matchAll(/^(\w+):\n((?: {2}.*\n)*)/gm)].filter(([, , inner = ""]) =>
      /^ {2}accounts? text/m.test(inner),
    );
    expect(naming.map(([, table]) => table).toSorted()).toEqual(Object.keys(ACCOUNT_DATA).toSorted());
  });

  it("are changed only by their owner's folder", () => {
    expect(foreign(true)).toEqual(listed("writers"));
  });

  it("are read by other folders only if the table lists the file", () => {
    expect(foreign(false)).toEqual(listed("readers"));
  });

  it("are changed by SQL functions only if the function is listed", () => {
    const folder = join(SERVER, "store/postgres/functions");
    const changed = readdirSync(folder).flatMap((file) => {
      const accesses = accessesIn(readFileSync(join(folder, file), "utf8"), names).filter(({ changes }) => changes);
      const tables = [...new Set(accesses.map(({ table }) => table))].toSorted();
      return tables.length > 0 ? [[basename(file, ".sql"), tables]] : [];
    });
    expect(Object.fromEntries(changed)).toEqual(FUNCTIONS);
  });
});

describe("the search for statements", () => {
  it("finds reads and changes, and ignores comments", () => {
    const source =
      '`with removed as (delete from drs.event e using erasure x where true) -- from tombstone\n select` + "from now"';
    expect(accessesIn(stringsOf(source), names)).toEqual([
      { table: "event", changes: true },
      { table: "erasure", changes: false },
    ]);
  });
});
