/**
 * A test double of Vault with one derived Transit key, for `deploy/vault/print-keys.mjs`. It listens with HTTPS on
 * loopback, decrypts by AES-256-GCM under keys that HKDF derives from a context, and answers with the statuses of the
 * real Vault.
 */
import { execFile } from "node:child_process";
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The context with which keys are wrapped, in base64. */
const CONTEXT = Buffer.from("fraud-production").toString("base64");

interface TransitBody {
  readonly ciphertext?: string;
  readonly context?: string;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

const failed = (status: number, error: string): Answer => ({ status, body: { errors: [error] } });

export interface Vault {
  readonly token: string;
  /** Number of requests that Vault answered. */
  readonly asked: number;
  /** Variables of `print-keys.mjs` for this Vault. The caller adds the file of wrapped keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** Wraps a key, in base64, as `vault write -field=ciphertext transit/encrypt/drs` does. */
  wrap(key: string, context?: string): string;
  /** Answers in place of Vault from now on. */
  behave(behaviour: (response: ServerResponse) => void): void;
  close(): Promise<void>;
}

/** @param parent the folder for the certificate and the token. */
export async function startVault(parent: string): Promise<Vault> {
  const folder = await mkdtemp(join(parent, "vault-"));
  const [certificate, key, tokenFile] = ["crt", "key", "token"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await makeCertificate(certificate, key);
  const token = `hvs.${randomBytes(12).toString("hex")}`;
  await writeFile(tokenFile, `${token}\n`);
  const transitKey = randomBytes(32);
  const keyOf = (context: string): Buffer =>
    Buffer.from(hkdfSync("sha256", transitKey, Buffer.alloc(0), Buffer.from(context, "base64"), 32));
  let behaviour: ((response: ServerResponse) => void) | undefined;
  let asked = 0;

  const decrypt = ({ ciphertext = "", context = "" }: TransitBody): Answer => {
    if (context === "") return failed(400, "missing 'context' for key derivation");
    const sealed = Buffer.from(ciphertext.replace("vault:v1:", ""), "base64");
    try {
      const decipher = createDecipheriv("aes-256-gcm", keyOf(context), sealed.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const opened = [decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return { status: 200, body: { data: { plaintext: Buffer.concat(opened).toString("base64") } } };
    } catch {
      return failed(400, "cipher: message authentication failed");
    }
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (behaviour) return behaviour(response);
    let text = "";
    for await (const chunk of request) text += String(chunk);
    asked++;
    const isRoute = request.method === "POST" && request.url === "/v1/transit/decrypt/drs";
    const isAllowed = request.headers["x-vault-token"] === token;
    const refusal = isAllowed ? failed(404, "no handler for route") : failed(403, "permission denied");
    const { status, body } = isRoute && isAllowed ? decrypt(JSON.parse(text) as TransitBody) : refusal;
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  };
  const tls = { cert: await readFile(certificate), key: await readFile(key) };
  const server = createServer(tls, (request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    token,
    get asked() {
      return asked;
    },
    environment: {
      VAULT_ADDR: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      VAULT_TOKEN_FILE: tokenFile,
      VAULT_CONTEXT: CONTEXT,
      NODE_EXTRA_CA_CERTS: certificate,
    },
    wrap(plain, context = CONTEXT) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keyOf(context), nonce);
      const sealed = [nonce, cipher.update(Buffer.from(plain, "base64")), cipher.final(), cipher.getAuthTag()];
      return `vault:v1:${Buffer.concat(sealed).toString("base64")}`;
    },
    behave(next) {
      behaviour = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Creates a self-signed certificate for 127.0.0.1 with the system's `openssl`. */
async function makeCertificate(cert: string, key: string): Promise<void> {
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const names = ["-subj", "/CN=vault", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-out", cert, "-keyout", key];
  await promisify(execFile)("openssl", ["req", "-x509", ...curve, "-nodes", "-days", "2", ...names, ...files]);
}
