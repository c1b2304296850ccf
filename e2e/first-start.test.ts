/** Runs the commands of docs/operator/first-start.md, from empty clusters to a green doctor and the first sign-in. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { accessSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmbeddedPostgres } from "../packages/server/src/runtime/embedded-postgres/embedded-postgres.ts";
import { makeCertificate } from "./support/certificate.ts";
import { until } from "./support/embedded.ts";
import { freePort } from "./support/free-port.ts";
import { CLIENT, startIdentityProvider, type TestIdentityProvider } from "./support/identity-provider.ts";
import { startPostgres } from "./support/start-postgres.ts";
import { useFolder } from "./support/use-folder.ts";

const ROOT = join(import.meta.dirname, "..");
const PAGE = "docs/operator/first-start.md";
const run = promisify(execFile);
const folder = useFolder();
let clusters: readonly EmbeddedPostgres[] = [];
let provider: TestIdentityProvider;
let server: ChildProcess | undefined;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  clusters = await Promise.all(["events", "keys"].map((name) => startPostgres(join(folder(), name))));
  provider = await startIdentityProvider();
  provider.people.set("248289761001", { groups: ["drs-operators"] });
});

afterAll(async () => {
  server?.kill("SIGTERM");
  await provider?.close();
  await Promise.all(clusters.map((cluster) => cluster.close()));
});

/** The commands of a step, which the page indents under its number. */
async function commandsOf(page: string, step: number): Promise<string> {
  const text = page.split(`\n${step}. `)[1]?.split(/\n(?:\d+\. |## )/)[0] ?? "";
  return [...text.matchAll(/^( +)```sh\n(.*?)^ +```$/gms)]
    .map(([, indent = "", lines = ""]) => lines.replaceAll(new RegExp(`^${indent}`, "gm"), ""))
    .join("\n");
}

const isThere = (program: string): boolean =>
  (process.env["PATH"] ?? "").split(":").some((path) => {
    try {
      accessSync(join(path, program));
      return true;
    } catch {
      return false;
    }
  });

test.skipIf(!isThere("psql"))("the page leads to a ready server and a sign-in", async () => {
  const [port, adminPort] = [await freePort(), await freePort()];
  const publicUrl = `https://localhost:${adminPort}`;
  provider.addRedirectUri(`${publicUrl}/admin/v1/sign-in/callback`);
  const { cert, key } = await makeCertificate(folder(), "localhost");
  const [events, keys] = clusters.map((cluster) => cluster.owner.host) as [string, string];
  // Folders, ports and the socket of each cluster differ here from the page.
  const page = (await readFile(join(ROOT, PAGE), "utf8"))
    .replaceAll(/\/(?:etc|var\/lib|srv)\/drs\b/g, folder())
    .replaceAll(/@\$(\w+):\$PGPORT\/(\w+)\?sslmode=verify-full/g, "@localhost/$2?host=$$$1&sslmode=disable")
    .replaceAll("8443", String(port))
    .replaceAll("8481", String(adminPort));
  const variables = `NAME=localhost EVENTS=${events} KEYS=${keys} ISSUER=${provider.issuer}
    CLIENT_ID=${CLIENT.id} CLIENT_SECRET="'${CLIENT.secret}'"; umask 077`;
  environment = {
    HOME: folder(),
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    NODE_EXTRA_CA_CERTS: cert,
    DRS_PROCESSES: "1",
  };
  const steps = (numbers: readonly number[]): Promise<string> =>
    Promise.all(numbers.map((number) => commandsOf(page, number))).then((blocks) => blocks.join("\n"));
  const bash = async (...numbers: number[]): Promise<string> => {
    const script = `set -eu\n${variables}\n${await steps(numbers)}`;
    return (await run("bash", ["-c", script], { cwd: ROOT, env: environment })).stdout;
  };
  // The embedded cluster begins with a database and a login of these names.
  const clean = ["drop database if exists drs", "drop role if exists drs_app"].flatMap((text) => ["-c", text]);
  await run("psql", ["-X", "-h", events, "-U", "postgres", "-d", "postgres", ...clean]);
  await copyFile(cert, join(folder(), "tls.crt"));
  await copyFile(key, join(folder(), "tls.key"));

  expect(await bash(2, 3, 4, 5, 6, 7, 8, 9)).toContain("Policy 1 is active.");

  const start = /^ +ExecStart=\S+ (.*)$/m.exec(page)?.[1] ?? "";
  const script = `${await steps([7])}\nexec node ${start}`;
  server = spawn("bash", ["-c", script], { cwd: ROOT, env: environment, stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  server.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await until(async () => output.includes("is ready"));

  const findings = (await bash(7, 11)).split("\n").filter((line) => /^\w+ +[\w' ]+: /.test(line));
  expect(findings.length).toBeGreaterThan(20);
  expect(findings.join("\n")).toContain("keys: PostgreSQL (DRS_KEY_DATABASE_URL)"); // not embedded
  expect(findings.filter((line) => !/^(?:ok|note) /.test(line))).toEqual([]);

  const login = run("bash", ["-c", `set -eu\n${variables}\n${await steps([12])}`], { cwd: ROOT, env: environment });
  let printed = "";
  login.child.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await until(async () => printed.includes("https://"));
  // A process of its own, which trusts the certificate.
  const visit = `import { Browser } from "./e2e/support/browser.ts"; await new Browser().visit(process.argv[1], "248289761001");`;
  const address = /https:\S+/.exec(printed)?.[0] ?? "";
  await run("node", ["--input-type=module", "-e", visit, address], { cwd: ROOT, env: environment });
  expect((await login).stdout).toMatch(/Signed in as j\.doe \(operator\)/);
});
