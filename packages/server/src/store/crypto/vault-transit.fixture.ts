/**
 * A test double of Vault with one Transit engine. It listens with HTTPS on loopback, encrypts by AES-256-GCM under keys
 * that HKDF derives from a context, has versions of its key, and answers with the statuses of the real Vault.
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

interface TransitBody {
  readonly plaintext?: string;
  readonly ciphertext?: string;
  /** The context of the key, in base64. */
  readonly context?: string;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

const failed = (status: number, error: string): Answer => ({ status, body: { errors: [error] } });

class TransitKey {
  readonly #derived: boolean;
  readonly #versions = [randomBytes(32)];
  minDecryptionVersion = 1;

  constructor(derived: boolean) {
    this.#derived = derived;
  }

  rotate(): void {
    this.#versions.push(randomBytes(32));
  }

  encrypt({ plaintext = "", context }: TransitBody): Answer {
    const version = this.#versions.length;
    const key = this.#keyOf(version, context);
    if (!key) return MISSING_CONTEXT;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    const sealed = [nonce, cipher.update(Buffer.from(plaintext, "base64")), cipher.final(), cipher.getAuthTag()];
    const ciphertext = `vault:v${version}:${Buffer.concat(sealed).toString("base64")}`;
    return { status: 200, body: { data: { ciphertext, key_version: version } } };
  }

  decrypt({ ciphertext = "", context }: TransitBody): Answer {
    const [, digits, text = ""] = /^vault:v(\d+):(.*)$/.exec(ciphertext) ?? [];
    if (digits === undefined) return failed(400, "invalid ciphertext: no prefix");
    const version = Number(digits);
    if (version > this.#versions.length) return failed(400, "invalid ciphertext: version is too new");
    if (version < this.minDecryptionVersion) return failed(400, "ciphertext version is disallowed by policy (too old)");
    const key = this.#keyOf(version, context);
    if (!key) return MISSING_CONTEXT;
    const sealed = Buffer.from(text, "base64");
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const opened = [decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return { status: 200, body: { data: { plaintext: Buffer.concat(opened).toString("base64") } } };
    } catch {
      return failed(400, `cipher: message authentication failed of ${ciphertext}`);
    }
  }

  /** A key that is not derived ignores the context, as in Vault. */
  #keyOf(version: number, context = ""): Buffer | undefined {
    const key = this.#versions[version - 1];
    if (!key || !this.#derived) return key;
    if (context === "") return undefined;
    return Buffer.from(hkdfSync("sha256", key, Buffer.alloc(0), Buffer.from(context, "base64"), 32));
  }
}

const MISSING_CONTEXT = failed(400, "missing 'context' for key derivation");

/** Answers in place of Vault. If it returns `false`, Vault answers. */
type Behaviour = (response: ServerResponse, request: IncomingMessage) => boolean | void;

export interface Vault {
  readonly url: string;
  readonly caFile: string;
  readonly tokenFile: string;
  readonly token: string;
  /** Bodies of the requests that Vault answered, oldest first. */
  readonly asked: TransitBody[];
  readonly key: TransitKey;
  /** Variables of a server that uses this Vault. The caller adds the file of wrapped keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** Wraps a key as `vault write -field=ciphertext transit/encrypt/drs` does. */
  wrap(key: Buffer, context: string): string;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export interface VaultChoices {
  readonly derived?: boolean;
  readonly namespace?: string;
}

/** @param parent the folder for the certificate and the token. */
export async function startVault(parent: string, { derived = true, namespace }: VaultChoices = {}): Promise<Vault> {
  const folder = await mkdtemp(join(parent, "vault-"));
  const [caFile, keyFile, tokenFile] = ["vault.crt", "vault.key", "vault-token"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await makeCertificate(caFile, keyFile);
  const token = `hvs.${randomBytes(12).toString("hex")}`;
  await writeFile(tokenFile, `${token}\n`);
  const key = new TransitKey(derived);
  const asked: TransitBody[] = [];
  let behaviour: Behaviour = () => false;

  const answerTo = ({ method, url, headers }: IncomingMessage, body: TransitBody): Answer => {
    if (headers["x-vault-token"] !== token) return failed(403, "permission denied");
    const route = headers["x-vault-namespace"] === namespace ? /^\/v1\/transit\/(\w+)\/drs$/.exec(url ?? "") : null;
    if (!route || (route[1] !== "encrypt" && route[1] !== "decrypt")) return failed(404, "no handler for route");
    if (method !== "POST" && method !== "PUT") return failed(405, "unsupported operation");
    return key[route[1]](body);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (behaviour(response, request) !== false) return;
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const given = JSON.parse(text) as TransitBody;
    asked.push(given);
    const { status, body } = answerTo(request, given);
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  };
  const certificate = { cert: await readFile(caFile), key: await readFile(keyFile) };
  const server = createServer(certificate, (request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    caFile,
    tokenFile,
    token,
    asked,
    key,
    environment: {
      DRS_VAULT_URL: url,
      DRS_VAULT_KEY: "drs",
      DRS_VAULT_TOKEN_FILE: tokenFile,
      DRS_VAULT_CA_FILE: caFile,
    },
    wrap(plain, context) {
      const { body } = key.encrypt({ plaintext: plain.toString("base64"), context });
      return (body as { data: { ciphertext: string } }).data.ciphertext;
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
