/** A time-stamp authority for tests, whose replies OpenSSL signs. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";

const CONFIGURATION = `[req]
distinguished_name = dn
[dn]
[authority]
basicConstraints = critical, CA:true
[signer]
extendedKeyUsage = critical, timeStamping
[tsa]
serial = serial
signer_cert = signer.pem
certs = authority.pem
signer_key = signer.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
`;

export interface TimeStampAuthority {
  readonly url: string;
  /** The directory of `authority.pem`. */
  readonly folder: string;
  /** A reply that is sent instead of a new one. */
  repeat: Buffer | undefined;
  close(): Promise<void>;
}

/** @param folder an empty one. */
export async function serveTimeStamps(folder: string): Promise<TimeStampAuthority> {
  const openssl = (...args: readonly string[]): Promise<unknown> =>
    promisify(execFile)("openssl", args, { cwd: folder });
  const certify = (name: string, ...by: readonly string[]): Promise<unknown> => {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${name}.key`];
    const made = ["-config", "tsa.cnf", "-extensions", name, "-subj", `/CN=${name}`, "-out", `${name}.pem`];
    return openssl("req", "-x509", ...key, ...made, ...by);
  };
  await writeFile(join(folder, "serial"), "01");
  await writeFile(join(folder, "tsa.cnf"), CONFIGURATION);
  await certify("authority");
  await certify("signer", "-CA", "authority.pem", "-CAkey", "authority.key");
  const authority: TimeStampAuthority = { url: "", folder, repeat: undefined, close: async () => {} };
  const replyTo = async (query: Buffer): Promise<Buffer> => {
    await writeFile(join(folder, "query"), query);
    await openssl("ts", "-reply", "-config", "tsa.cnf", "-section", "tsa", "-queryfile", "query", "-out", "reply");
    return readFile(join(folder, "reply"));
  };
  const server = createServer((request, response) => {
    buffer(request)
      .then((query) => authority.repeat ?? replyTo(query))
      .then(
        (reply) => response.end(reply),
        () => response.writeHead(500).end(),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(authority, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
