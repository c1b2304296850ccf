/** Tests that no command prints characters that control a terminal, change the direction of text or break a line. */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BASE_PATH, isBytes, isLines, type Route, ROUTES } from "@device-risk-signals/admin-api";
import { argumentsOf, commandsOfInstallation, runAsGiven } from "../support/command.ts";

const ESC = "\u001b";
/** Text that a client may send: a formula, escape sequences, direction marks, line breaks and an unpaired surrogate. */
const HOSTILE = `=cmd()${ESC}[2J${ESC}]0;x\u0007\u202e\u2066\u200f\u061c\u2028\u2029\u0085\r\n\t\u009b\ud800`;
const SHOWN = "=cmd()\\u001b[2J\\u001b]0;x\\u0007\\u202e\\u2066\\u200f\\u061c\\u2028\\u2029\\u0085";
const UNSAFE = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u;

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

/** One value for each variant of the schema. Every free text in these values is hostile. */
function samplesOf(schema: Schema): unknown[] {
  if (schema.anyOf) return schema.anyOf.flatMap(samplesOf).filter((sample) => sample !== null);
  if ("const" in schema) return [schema.const];
  if (schema.enum) return schema.enum.slice(0, 1);
  if (schema.type === "array") return [samplesOf(schema.items ?? {})];
  if (schema.type === "integer" || schema.type === "number") return [1];
  if (schema.type === "boolean") return [true, false];
  if (schema.type === "null") return [null];
  if (schema.type !== "object") return [HOSTILE];
  const named = Object.entries(schema.properties ?? {}).map(([name, inner]) => {
    return [name, name === "next" ? null : samplesOf(inner)[0]] as const;
  });
  const free = Object.values(schema.patternProperties ?? {}).map((inner) => [HOSTILE, samplesOf(inner)[0]] as const);
  return [Object.fromEntries([...named, ...free])];
}

const routes = Object.values(ROUTES as Readonly<Record<string, Route>>).map((route) => ({
  ...route,
  pattern: new RegExp(`^${BASE_PATH}${route.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

let server: Server;
let remote: Record<string, string>;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://localhost");
    const route = routes.find(({ method, pattern }) => method === request.method && pattern.test(pathname));
    if (!route || isBytes(route.answer)) return response.writeHead(200).end();
    const { answer } = route;
    const schema = (isLines(answer) ? answer.lines : answer) as Schema;
    const lines = samplesOf(schema).map((sample) => JSON.stringify(sample));
    const headers = { "Content-Type": isLines(answer) ? "application/x-ndjson" : "application/json" };
    return response.writeHead(200, headers).end(isLines(answer) ? `${lines.join("\n")}\n` : lines[0]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // A command that bypassed the admin API would find no database.
  remote = { DRS_ADMIN_URL: url, DRS_ADMIN_TOKEN: "x", DRS_DATABASE_URL: "postgres://127.0.0.1:1/none" };
});
afterAll(() => server?.close());

/**
 * Commands that print no text from an answer of the admin API. They print only names that the user gave, or they work
 * on files or on the database. The last test of this file lists the code that prints for them.
 */
const WITHOUT_TEXT: readonly string[] = [
  "migrate",
  "token revoke",
  "session revoke",
  "admin-token revoke",
  "action revoke",
  "case close",
  "audit verify",
  "audit export",
  "audit switch-keys",
  "audit epoch",
  "audit prune",
  "feature retire",
  "feature work",
  "export run",
  "export raw",
  "export verify",
  "export repeat",
  "export acknowledge",
  "erase replay",
  "erase accept-loss",
  "receipt verify",
  "key destroy",
  "key accept-loss",
  "account export",
];

test("each command that calls the admin API escapes hostile texts of the answer, in tables and in JSON", async () => {
  const silent: string[] = [];
  for (const name of commandsOfInstallation()) {
    if (["serve", "login", "logout"].includes(name)) continue;
    const args = [...name.split(" "), ...argumentsOf(name)];
    const printed = [
      await runAsGiven(remote, ...args),
      await runAsGiven(remote, ...args, "--json"),
      // Lists alone have these options.
      await runAsGiven(remote, ...args, "--wide"),
      await runAsGiven(remote, ...args, "-o", "csv"),
    ];
    // A line of CSV ends with both characters.
    const text = printed.map(({ stdout, stderr }) => stdout.replaceAll("\r\n", "\n") + stderr).join("");
    expect(UNSAFE.exec(text)?.[0], `${name} prints a control`).toBeUndefined();
    if (!text.includes(SHOWN)) silent.push(name);
  }
  expect(silent.toSorted()).toEqual(WITHOUT_TEXT.toSorted());
});

test("only the listed files of the command line write to standard output, and they write escaped text or exact bytes", () => {
  const folder = join(import.meta.dirname, "../../packages/server/src/cli");
  const writing = readdirSync(folder)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) => /\bstdout\.write\(|console\./.test(readFileSync(join(folder, file), "utf8")));
  expect(writing).toEqual(["context.ts", "migrate.ts", "program.ts", "table.ts"]);
});
