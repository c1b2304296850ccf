/** A time-stamp authority for tests: OpenSSL signs its replies, and verifies them. */
import { execFile } from "node:child_process";
import { randomUUID, X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Der, encode, encodeInteger, readAll, TAGS } from "./der.ts";

export interface Authority {
  /** The path of the certificate whose key has signed the authority's certificate. */
  readonly caFile: string;
  readonly trusted: readonly X509Certificate[];
  /** The reply to a query, both in DER. */
  readonly reply: (query: Buffer) => Promise<Buffer>;
  /**
   * The reply with the signature of a certificate for TLS servers. The fixture signs it with `openssl cms`, because
   * `openssl ts` signs nothing with such a certificate.
   */
  readonly replyOfServer: (query: Buffer) => Promise<Buffer>;
  /** Whether OpenSSL accepts the reply for the message. */
  readonly accepts: (message: Buffer, reply: Buffer) => Promise<boolean>;
}

const CONFIGURATION = `[req]
distinguished_name = dn
[dn]
[root]
basicConstraints = critical, CA:true
[signer]
extendedKeyUsage = critical, timeStamping
[server]
extendedKeyUsage = critical, serverAuth
[authority]
serial = serial
signer_cert = signer.pem
certs = root.pem
signer_key = signer.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ordering = yes
tsa_name = yes
`;
const TST_INFO = "1.2.840.113549.1.9.16.1.4";

/** @param folder of its own. @param kind of the keys, as `openssl req -newkey` takes it. */
export async function makeAuthority(folder: string, kind: "ec" | "rsa:2048" = "ec"): Promise<Authority> {
  const path = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): Promise<unknown> =>
    promisify(execFile)("openssl", args, { cwd: folder });
  await writeFile(path("serial"), "01");
  await writeFile(path("authority.cnf"), CONFIGURATION);
  const curve = kind === "ec" ? ["-pkeyopt", "ec_paramgen_curve:P-256"] : [];
  const certify = (name: string, ...by: readonly string[]): Promise<unknown> => {
    const request = ["req", "-x509", "-newkey", kind, ...curve, "-nodes", "-days", "30", "-config", "authority.cnf"];
    const named = ["-subj", `/CN=${name}`, "-extensions", name, "-keyout", `${name}.key`, "-out", `${name}.pem`];
    return openssl(...request, ...named, ...by);
  };
  await certify("root");
  await Promise.all(["signer", "server"].map((name) => certify(name, "-CA", "root.pem", "-CAkey", "root.key")));
  const reply = async (query: Buffer): Promise<Buffer> => {
    const [asked, replied] = [randomUUID(), randomUUID()];
    await writeFile(path(asked), query);
    const replyOptions = ["-config", "authority.cnf", "-section", "authority", "-queryfile", asked, "-out", replied];
    await openssl("ts", "-reply", ...replyOptions);
    return readFile(path(replied));
  };
  return {
    caFile: path("root.pem"),
    trusted: [new X509Certificate(await readFile(path("root.pem")))],
    reply,
    async replyOfServer(query) {
      await writeFile(path("info"), infoOf(await reply(query)));
      const content = ["-binary", "-nodetach", "-econtent_type", TST_INFO, "-in", "info", "-outform", "DER"];
      const by = ["-cades", "-md", "sha256", "-signer", "server.pem", "-inkey", "server.key", "-out", "signed"];
      await openssl("cms", "-sign", ...content, ...by);
      const granted = encode(TAGS.sequence, encodeInteger(Buffer.of(0)));
      return encode(TAGS.sequence, granted, await readFile(path("signed")));
    },
    async accepts(message, replied) {
      await Promise.all([writeFile(path("message"), message), writeFile(path("reply"), replied)]);
      return openssl("ts", "-verify", "-data", "message", "-in", "reply", "-CAfile", "root.pem").then(
        () => true,
        () => false,
      );
    },
  };
}

/** The value at these indexes of nested members. */
function at(der: Der | undefined, ...indexes: readonly number[]): Der | undefined {
  const [index, ...rest] = indexes;
  return index === undefined || !der ? der : at(readAll(der.value)?.[index], ...rest);
}

/** The time-stamp information of a reply. */
export const infoOf = (reply: Buffer): Buffer => at(readAll(reply)?.[0], 1, 1, 0, 2, 1, 0)?.value ?? Buffer.of();

export interface ServedAuthority {
  readonly url: string;
  /** Sets the answer to later queries; without an answer, queries wait for ever. */
  answer: ((query: Buffer) => Promise<Buffer>) | undefined;
  /** Number of queries. */
  asked: number;
  close(): Promise<void>;
}

export async function serveAuthority(answer: (query: Buffer) => Promise<Buffer>): Promise<ServedAuthority> {
  const served: ServedAuthority = { url: "", answer, asked: 0, close: async () => {} };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      served.asked++;
      served.answer?.(Buffer.concat(parts)).then(
        (reply) => response.setHeader("content-type", "application/timestamp-reply").end(reply),
        () => response.writeHead(500).end(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return Object.assign(served, { url, close });
}
