import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeCertificate } from "../../../../e2e/support/certificate.ts";
import { temporaryFolder } from "../../../../e2e/support/temporary-folder.ts";
import { createEndpointServer } from "./server.ts";
import { followTlsFiles, readTlsFiles, type TlsPaths } from "./tls.ts";

interface Pair {
  readonly cert: string;
  readonly key: string;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let first: Pair;
let second: Pair;
const VARIABLES = { cert: "DRS_TLS_CERT_FILE", key: "DRS_TLS_KEY_FILE" };
let paths: TlsPaths;

async function makePair(name: string): Promise<Pair> {
  const { cert, key } = await makeCertificate(folder.path, name);
  return { cert: await readFile(cert, "utf8"), key: await readFile(key, "utf8") };
}

beforeAll(async () => {
  folder = await temporaryFolder();
  [first, second] = await Promise.all([makePair("first"), makePair("second")]);
  paths = { cert: join(folder.path, "served.crt"), key: join(folder.path, "served.key"), variables: VARIABLES };
});

afterAll(() => folder?.remove());

beforeEach(() => put(first));

async function put({ cert, key }: Partial<Pair>): Promise<void> {
  if (cert !== undefined) await writeFile(paths.cert, cert);
  if (key !== undefined) await writeFile(paths.key, key);
}

describe("readTlsFiles", () => {
  it("reads a certificate and its key", async () => {
    const files = await readTlsFiles(paths);
    expect([files.cert.toString(), files.key.toString()]).toEqual([first.cert, first.key]);
  });

  const badFiles: readonly (readonly [string, () => Promise<void>, RegExp])[] = [
    ["no certificate file", () => rm(paths.cert), /^DRS_TLS_CERT_FILE: \S+served\.crt can't be read \(ENOENT\)$/],
    ["no key file", () => rm(paths.key), /^DRS_TLS_KEY_FILE: \S+served\.key can't be read \(ENOENT\)$/],
    ["another certificate's key", () => put({ key: second.key }), /are no certificate and its key/],
    ["the two exchanged", () => put({ cert: first.key, key: first.cert }), /are no certificate and its key/],
    ["a certificate that is cut off", () => put({ cert: first.cert.slice(0, 300) }), /are no certificate and its key/],
    ["a key that is cut off", () => put({ key: first.key.slice(0, 100) }), /are no certificate and its key/],
    ["an empty certificate", () => put({ cert: "" }), /are no certificate and its key/],
    ["an empty key", () => put({ key: "" }), /are no certificate and its key/],
    ["both empty", () => put({ cert: "", key: "" }), /are no certificate and its key/],
    ["something else", () => put({ cert: "hello", key: "hello" }), /are no certificate and its key/],
  ];
  it.each(badFiles)("names the wrong variables and quotes no file: %s", async (_, corrupt, message) => {
    await corrupt();
    const error = (await readTlsFiles(paths).catch((caught: unknown) => caught)) as Error;
    expect(error.message).toMatch(message);
    const secret = first.key.split("\n")[1] ?? "";
    expect((error as Error).message + String(error.cause)).not.toContain(secret);
  });

  it("names the path of a directory that is in place of a file", async () => {
    const named = readTlsFiles({ ...paths, cert: folder.path });
    await expect(named).rejects.toThrow(`DRS_TLS_CERT_FILE: ${folder.path} can't be read (EISDIR)`);
  });
});

describe("a running TLS server", () => {
  let server: Server;
  let port: number;
  let followed: ReturnType<typeof followTlsFiles>;
  /** The reports so far: "reloaded", or the message of an error. */
  let reports: string[];

  beforeEach(async () => {
    reports = [];
    server = createEndpointServer({
      ingest: async () => ({ status: 200, headers: {}, body: "served" }),
      proxyHops: 0,
      requestTimeout: 30_000,
      onError: () => {},
      tls: await readTlsFiles(paths),
    }) as Server;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
    followed = followTlsFiles(server, paths, (error) =>
      reports.push(error === undefined ? "reloaded" : (error as Error).message),
    );
  });

  afterEach(async () => {
    followed.close();
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });

  /** Returns the name in the certificate that a new connection gets. */
  function shown(): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
        const certificate: Partial<PeerCertificate> = socket.getPeerCertificate();
        socket.destroy();
        resolve(certificate.subject?.CN?.toString());
      });
      socket.on("error", reject);
    });
  }

  /** Reads the files again, and waits for the report. */
  async function reload(): Promise<string | undefined> {
    const before = reports.length;
    followed.reload();
    await expect.poll(() => reports.length, { timeout: 5_000 }).toBeGreaterThan(before);
    return reports.at(-1);
  }

  it("serves a renewed pair to new connections after a reload", async () => {
    expect(await shown()).toBe("first");
    await put(second);
    expect(await shown()).toBe("first");
    expect(await reload()).toBe("reloaded");
    expect(await shown()).toBe("second");
  });

  it("notices a renewed pair without a signal", async () => {
    await put(second);
    await expect.poll(shown, { timeout: 10_000, interval: 200 }).toBe("second");
    expect(reports).toContain("reloaded");
  });

  it("keeps the old pair while only one file of the new pair is written", async () => {
    await put({ cert: second.cert });
    expect(await reload()).toMatch(/no certificate and its key/);
    expect(await shown()).toBe("first");
    await put({ key: second.key.slice(0, 120) });
    expect(await reload()).toMatch(/no certificate and its key/);
    expect(await shown()).toBe("first");
    await put({ key: second.key });
    expect(await reload()).toBe("reloaded");
    expect(await shown()).toBe("second");
  });

  it("keeps the old pair when the files vanish", async () => {
    await rm(paths.cert);
    expect(await reload()).toMatch(/DRS_TLS_CERT_FILE: \S+ can't be read \(ENOENT\)/);
    expect(await shown()).toBe("first");
  });

  it("keeps open connections through a renewal", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    const ask = (): Promise<{ status: number | undefined; reused: boolean }> =>
      new Promise((resolve, reject) => {
        const asking = request({ port, host: "127.0.0.1", agent, path: "/api/v1/device-signal-events" }, (response) => {
          response.resume().on("end", () => resolve({ status: response.statusCode, reused: asking.reusedSocket }));
        });
        asking.on("error", reject).end();
      });
    expect(await ask()).toEqual({ status: 200, reused: false });
    await put(second);
    await reload();
    expect(await ask()).toEqual({ status: 200, reused: true });
    agent.destroy();
    expect(await shown()).toBe("second");
  });

  it("reads no file after it has stopped following the files", async () => {
    followed.close();
    await put(second);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(reports).toEqual([]);
    expect(await shown()).toBe("first");
  });
});

it("a context that the server rejects is reported, and the next one is served", async () => {
  const served: unknown[] = [];
  let broken = true;
  const server = {
    setSecureContext(files: unknown) {
      if (broken) throw new Error("no such curve");
      served.push(files);
    },
  };
  const reports: unknown[] = [];
  const waiting: (() => void)[] = [];
  const reported = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const following = followTlsFiles(server as Server, paths, (error) => {
    reports.push(error);
    waiting.shift()?.();
  });
  try {
    for (const next of [false, false]) {
      const nextReport = reported();
      following.reload();
      await nextReport;
      broken = next;
    }
    expect(reports).toEqual([expect.objectContaining({ message: "no such curve" }), undefined]);
    expect(served).toHaveLength(1);
  } finally {
    following.close();
  }
});
