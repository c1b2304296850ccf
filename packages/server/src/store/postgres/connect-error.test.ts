import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { inspect } from "node:util";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectAsOwner, startDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { postgresKeyStore } from "../crypto/postgres-key-store.ts";
import { Dependencies } from "../../base/dependencies/dependencies.ts";
import { createEndpoint } from "../../index.ts";
import { openPool, withClient, withDeadlineOf } from "./database.ts";
import { isTransient, sqlState } from "./errors.ts";

let database: TestDatabase;
let folder: { path: string; remove: () => Promise<void> };
let socket: string;
let secured: Server;
let port: number;
let expired: Server;
const warnings: string[] = [];
const collect = ({ message }: Error): number => warnings.push(message);

/** Makes a certificate for this name, which is its own authority. */
function makeCertificate(name: string): { cert: Buffer; key: Buffer; file: string } {
  const [file, keyFile] = [join(folder.path, `${name}.crt`), join(folder.path, `${name}.key`)];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...curve, ...subject, "-out", file, "-keyout", keyFile], {
    stdio: "ignore",
  });
  return { cert: readFileSync(file), key: readFileSync(keyFile), file };
}

/** Puts TLS in front of the socket of PostgreSQL, whose embedded form listens on no port. */
async function serveTls({ cert, key }: { cert: Buffer; key: Buffer }): Promise<Server> {
  const server = createServer((client: Socket) => {
    client.on("error", () => {});
    client.once("data", () => {
      client.write("S");
      const tls = new TLSSocket(client, { isServer: true, cert, key });
      const behind = createConnection(socket);
      tls.on("error", () => behind.destroy());
      behind.on("error", () => tls.destroy());
      tls.pipe(behind).pipe(tls);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

beforeAll(async () => {
  process.on("warning", collect);
  folder = await temporaryFolder();
  database = await startDatabase();
  const owner = await connectAsOwner({ DRS_DATABASE_URL: database.url("postgres") });
  await owner.query(`create role locked login password 'right'; create role single login connection limit 0;
    create role denied login; create role reader login`);
  const { rows } = (await owner.query("show hba_file")) as pg.QueryResult<{ hba_file: string }>;
  const [{ hba_file } = { hba_file: "" }] = rows;
  writeFileSync(hba_file, "local all locked scram-sha-256\nlocal all denied reject\nlocal all all trust\n");
  await owner.query("select pg_reload_conf()");
  await owner.end();
  const host = new URL(database.url("postgres")).searchParams.get("host") ?? "";
  socket = join(host, ".s.PGSQL.5432");
  secured = await serveTls(makeCertificate("localhost"));
  const known = makeCertificate("elsewhere.example");
  expired = await serveTls(known);
  // Node reads the authorities of the operating system once, from this file.
  process.env["SSL_CERT_FILE"] = known.file;
  port = (secured.address() as AddressInfo).port;
});

afterAll(async () => {
  process.off("warning", collect);
  delete process.env["SSL_CERT_FILE"];
  secured?.close();
  expired?.close();
  await database?.close();
  await folder?.remove();
});

const at = (login: string, name = "postgres"): string => database.url(name).replace("//postgres@", `//${login}@`);
const SETTING = "DRS_KEY_DATABASE_URL, option keys.databaseUrl";

/** Connects once. @returns the error, and what readiness says about the store. */
async function failureAt(connectionString: string): Promise<{ message: string; error: unknown; ready: string[] }> {
  const dependency = new Dependencies(5_000).get("key_store");
  const options = withDeadlineOf(dependency, { connectionString, setting: SETTING });
  const error: unknown = await withClient(options, async () => undefined).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  dependency.reportUnreachable(error);
  return {
    message: (error as Error | undefined)?.message ?? "connected",
    error,
    ready: [...dependency.health.problems],
  };
}

/** Runs `work` while the file of a parameter exists. */
async function withCertificates<T>(path: string, parameter: string, work: () => Promise<T>): Promise<T> {
  copyFileSync(join(folder.path, parameter === "sslkey" ? "localhost.key" : "localhost.crt"), path);
  try {
    return await work();
  } finally {
    rmSync(path);
  }
}

describe("a database that can't be used is named with place, reason, cure and setting", () => {
  test.each<[string, () => string, string]>([
    ["a wrong password", () => at("locked:wrong"), "refuses the login or its password (SQLSTATE 28P01): correct them"],
    ["no password", () => at("locked"), "asks for a password, and there is none: add it"],
    ["a rejected login", () => at("denied"), "refuses the login (SQLSTATE 28000): correct it, or allow it"],
    ["no connection left", () => at("single"), "has no connection left (SQLSTATE 53300): raise max_connections"],
    ["no such database", () => at("postgres", "absent"), "has no database of this name (SQLSTATE 3D000): create it"],
    [
      "a certificate of an unknown authority",
      () => `postgresql://postgres@localhost:${port}/postgres?sslmode=require`,
      "has a certificate of an unknown authority (DEPTH_ZERO_SELF_SIGNED_CERT): name the file",
    ],
    [
      "a certificate that the system does not know",
      () => `postgresql://postgres@localhost:${port}/postgres?sslrootcert=system`,
      "has a certificate of an unknown authority (DEPTH_ZERO_SELF_SIGNED_CERT): name the file",
    ],
    [
      "a certificate that the system knows, for another host",
      () => {
        const other = (expired.address() as AddressInfo).port;
        return `postgresql://postgres@localhost:${other}/postgres?sslrootcert=system`;
      },
      "has a certificate for another host (ERR_TLS_CERT_ALTNAME_INVALID): connect by a name",
    ],
    ["an unknown host", () => "postgresql://app@nowhere.invalid/x", "has an unknown host name (ENOTFOUND): correct it"],
  ])("%s", async (_, url, expected) => {
    const { message, error, ready } = await failureAt(url());
    expect(message).toContain(`the key store ${expected}`);
    expect(message).toMatch(/ \(\w+@[^()]+:\d+\/\w+; DRS_KEY_DATABASE_URL, option keys\.databaseUrl\)$/);
    expect(message).not.toMatch(/right|wrong/);
    expect(ready).toEqual([message.replace("the key store ", "")]);
    expect(error).toMatchObject({ code: "dependency-unusable" });
  });

  test("a port where nothing listens", async () => {
    const { message, error, ready } = await failureAt("postgresql://app@[::1]:1/x");
    expect(message).toMatch(/^the key store can't be reached: .*\(app@\[::1\]:1\/x; DRS_KEY_DATABASE_URL/);
    expect(ready).toEqual(["can't be reached"]);
    expect(isTransient(error)).toBe(true);
  });
});

test.each(["sslrootcert", "sslcert", "sslkey"])(
  "a file in %s= that is away for a moment is a failed connection, and the next one reads it",
  async (parameter) => {
    const certificate = join(folder.path, "localhost.crt");
    const key = join(folder.path, "localhost.key");
    const away = join(folder.path, `away-${parameter}`);
    const files = new URLSearchParams({
      sslrootcert: certificate,
      sslcert: certificate,
      sslkey: key,
      [parameter]: away,
    });
    const connectionString = `postgresql://postgres@localhost:${port}/postgres?${files.toString()}`;
    const dependency = new Dependencies(5_000).get("key_store");
    const options = withDeadlineOf(dependency, { connectionString, setting: SETTING });
    const pool = openPool(options, { max: 1, onError: () => {} });
    // The pool makes a connection for the second caller when the first connection ends, outside of any caller's promise.
    const first = await withCertificates(away, parameter, () => pool.connect());
    const second = pool.connect().then(
      () => undefined,
      (error: unknown) => error,
    );
    first.release(true);
    const error = await second;
    dependency.reportUnreachable(error);
    const problem = `can't be used: the file ${away} in ${parameter}= can't be read (ENOENT): put it back`;
    expect(error).toMatchObject({ code: "dependency-unusable", message: expect.stringContaining(problem) as string });
    expect(dependency.health.problems).toEqual([expect.stringContaining(problem)]);
    expect(isTransient(error)).toBe(true);
    const again = await withCertificates(away, parameter, () => pool.connect());
    expect(inspect(again)).not.toContain("PRIVATE KEY");
    again.release(true);
    await pool.end();
  },
);

test("the code of the database is known, although the message names the store", async () => {
  const { error } = await failureAt(at("locked:wrong"));
  expect(sqlState(error)).toBe("28P01");
  expect(isTransient(error)).toBe(true);
});

test("a statement that a store refuses is reported with the same place and setting", async () => {
  const opened = postgresKeyStore({ connectionString: at("reader"), setting: SETTING });
  const problem =
    /^can't be used: its login lacks a privilege \(SQLSTATE 42501\) \(reader@.+; DRS_KEY_DATABASE_URL, option/;
  await expect(opened).rejects.toMatchObject({ detail: { problem: expect.stringMatching(problem) as string } });
});

test.each(["require", "verify-ca", "verify-full"])("sslmode=%s works without a warning", async (mode) => {
  const file = encodeURIComponent(join(folder.path, "localhost.crt"));
  const { message } = await failureAt(
    `postgresql://postgres@localhost:${port}/postgres?sslmode=${mode}&sslrootcert=${file}`,
  );
  expect(message).toBe("connected");
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

test("a host that opens an endpoint with a wrong password gets the same sentence", async () => {
  const options = {
    database: { url: at("locked:wrong") },
    keys: { directory: join(folder.path, "keys"), encryptionKey: Buffer.alloc(32, 1) },
    onError: () => {},
  };
  await expect(createEndpoint(options)).rejects.toMatchObject({
    name: "Unavailable",
    message: expect.stringMatching(
      /^the database refuses the login or its password \(SQLSTATE 28P01\): correct them \(locked@.+; DRS_DATABASE_URL, option database\.url\)$/,
    ),
  });
});
