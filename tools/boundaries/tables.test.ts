import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { TABLES } from "../../packages/server/src/store/postgres/grants.ts";
import { SERVER, sourceFiles, wingOf } from "./imports.ts";
import { accessesIn, stringsOf } from "./statements.ts";
import { ACCOUNT_DATA, EXCEPTIONS } from "./tables.ts";
import { WINGS } from "./wings.ts";

const owners = new Map(
  Object.entries(TABLES).flatMap(([owner, tables]) => Object.keys(tables).map((table) => [table, owner])),
);
const names = new Set(owners.keys());
const readable = new Map(WINGS.map(({ name, imports }) => [name, new Set([name, ...imports])]));
const snapshot = readFileSync(join(SERVER, "store/postgres/schema.snapshot"), "utf8");

describe("the tables", () => {
  it("have one owner each, which is a folder of the server", () => {
    const [, tables = ""] = /^# tables\n([^#]*)/m.exec(snapshot) ?? [];
    const existing = [...tables.matchAll(/^\w+/gm)].map(([name]) => name);
    expect(existing.toSorted()).toEqual([...names].toSorted());
    const folders = new Set(sourceFiles().map((file) => dirname(file)));
    expect(Object.keys(TABLES).filter((owner) => !folders.has(owner))).toEqual([]);
  });

  it("that name an account have an entry for erasures and exports", () => {
    const [, columns = ""] = /^# columns\n([^#]*)/m.exec(snapshot) ?? [];
    const naming = [...columns.matchAll(/^(\w+):\n((?: {2}.*\n)*)/gm)].filter(([, , inner = ""]) =>
      /^ {2}accounts? text/m.test(inner),
    );
    expect(naming.map(([, table]) => table).toSorted()).toEqual(Object.keys(ACCOUNT_DATA).toSorted());
  });

  it("are changed by their folder, and read by the wings that may import its wing", () => {
    const foreign = sourceFiles().flatMap((file) =>
      accessesIn(stringsOf(readFileSync(join(SERVER, file), "utf8")), names)
        .map((access) => ({ ...access, owner: owners.get(access.table) ?? "" }))
        .filter(({ owner, changes }) => owner !== dirname(file) && (changes || !mayRead(file, owner)))
        .map(({ table }) => `${table} ${file}`),
    );
    expect([...new Set(foreign)].toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
  });
});

const mayRead = (file: string, owner: string): boolean => readable.get(wingOf(file))?.has(wingOf(`${owner}/`)) === true;

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
