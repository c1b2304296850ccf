/**
 * Keys that Vault's Transit engine has wrapped. Transit unwraps them under a key that it derives from the context of
 * this installation, so that wrapped keys of another installation are refused.
 */
import { readFile } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { withDeadline } from "../../base/dependencies/deadline.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { Unavailable } from "../../base/ports.ts";
import { key256 } from "../../base/config/values.ts";
import type { SourceDeadline } from "./cached-keys.ts";

export interface VaultOptions {
  readonly url: string;
  readonly mount: string;
  readonly keyName: string;
  readonly wrappedKeyFile: string;
  readonly tokenFile: string;
  readonly caFile?: string | undefined;
  readonly namespace?: string | undefined;
}

/**
 * The maximum size of an answer. A correct answer is much smaller: a key of 32 bytes, and some members about the
 * request.
 */
const MAX_ANSWER_BYTES = 64 * 1024;

const CIPHERTEXT = /^vault:v\d{1,9}:[A-Za-z\d+/]+={0,2}$/;
const TOKEN_TEXT = /^[\x21-\x7e]+$/;

/** The context from which a Transit key is derived, in base64 as Vault requires. It is no secret. */
export const vaultContext = (installation: string): string =>
  Buffer.from(`device-risk-signals/${installation}`).toString("base64");

/** The place of the Transit key in Vault, for messages. */
export const vaultKey = ({ url, mount, keyName }: VaultOptions): string =>
  `${mount}/${keyName} of ${new URL(url).host}`;

/**
 * Reads the wrapped keys and the token, and asks Vault to unwrap each key.
 * @param installation the id of this installation. @throws key-file-unusable, key-source-unusable, Unavailable
 */
export function keysOfVault(
  vault: VaultOptions,
  installation: string,
  deadline: SourceDeadline,
): Promise<readonly Buffer[]> {
  const expired = (): Unavailable =>
    new Unavailable(`${describeVault(vault)} gave no answer within ${deadline.ms} ms`, { code: "dependency-silent" });
  return withDeadline({ ...deadline, expired }, (signal) => unwrapAll(vault, vaultContext(installation), signal));
}

async function unwrapAll(vault: VaultOptions, context: string, signal: AbortSignal): Promise<readonly Buffer[]> {
  const wrapped = await readWrapped(vault, context);
  const ask = await openDecryption(vault, signal);
  const keys: Buffer[] = [];
  for (const { ciphertext, line } of wrapped) {
    const answer = await ask({ ciphertext, context });
    if (answer.status !== 200) throw refusalError(vault, answer.status, { line, context });
    keys.push(keyOf(answer.text, vault, line));
  }
  // guard(drop): a Transit key that ignores the installation is refused
  // fails: packages/server/src/store/crypto/vault-transit.test.ts › is not derived
  await requireDerived(vault, () => ask({ ciphertext: wrapped[0]?.ciphertext }));
  return keys;
}

interface WrappedKey {
  readonly ciphertext: string;
  /** The place of the key for messages: a line of a file. */
  readonly line: string;
}

async function readWrapped({ wrappedKeyFile: path }: VaultOptions, context: string): Promise<readonly WrappedKey[]> {
  const advice = `wrap one with the context ${context}, as docs/operator.md shows`;
  const text = await readTextFile(path, "the wrapped key-encryption key", advice);
  const lines = text.split("\n").map((content, index) => ({
    ciphertext: content.trim(),
    line: `line ${index + 1} of ${path}`,
  }));
  const filled = lines.filter(({ ciphertext }) => ciphertext !== "");
  const wrong = filled.length === 0 ? lines[0] : filled.find(({ ciphertext }) => !CIPHERTEXT.test(ciphertext));
  if (!wrong) return filled;
  throw new OperatorError("key-file-unusable", `${wrong.line} must be what Vault printed, vault:v1:…: ${advice}`);
}

/**
 * Rejects a Transit key that is not derived, because it ignores the context and opens what was wrapped for any
 * installation. To find out, asks Vault to decrypt without a context: if the key is derived, Vault answers with status
 * 400.
 */
async function requireDerived(vault: VaultOptions, askWithoutContext: () => Promise<Answer>): Promise<void> {
  const { status } = await askWithoutContext();
  if (status === 400) return;
  if (status !== 200) throw refusalError(vault, status);
  throw new OperatorError(
    "key-source-unusable",
    `the Transit key ${vaultKey(vault)} is not derived, and so opens wrapped keys of every installation: ` +
      "create one with derived=true, and wrap the key-encryption key by it",
  );
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Returns a function that asks Vault to decrypt. The token is read again for each function, because an agent may renew
 * it.
 */
async function openDecryption(vault: VaultOptions, signal: AbortSignal): Promise<(body: object) => Promise<Answer>> {
  const { tokenFile, caFile, namespace } = vault;
  const token = (await readTextFile(tokenFile, "the token for Vault")).trim();
  if (!TOKEN_TEXT.test(token)) throw new OperatorError("key-file-unusable", `${tokenFile} holds no token for Vault`);
  const ca = caFile === undefined ? undefined : await readTextFile(caFile, "the certificates for Vault");
  const options: RequestOptions & { readonly rejectUnauthorized: true } = {
    method: "POST",
    agent: false,
    signal,
    // guard(drop): NODE_TLS_REJECT_UNAUTHORIZED does not turn the check of Vault's certificate off
    // fails: packages/server/src/store/crypto/vault-transit.test.ts › NODE_TLS_REJECT_UNAUTHORIZED
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
    headers: {
      "Content-Type": "application/json",
      "X-Vault-Token": token,
      "X-Vault-Request": "true",
      ...(namespace !== undefined && { "X-Vault-Namespace": namespace }),
    },
  };
  return (body) =>
    sendToVault(vault, options, JSON.stringify(body)).catch((error: unknown) => {
      if (error instanceof OperatorError) throw error;
      throw unreachable(vault, error);
    });
}

function sendToVault(vault: VaultOptions, options: RequestOptions, body: string): Promise<Answer> {
  const url = decryptUrl(vault);
  const start: (url: URL, options: RequestOptions, answered: (response: IncomingMessage) => void) => ClientRequest =
    url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = start(url, options, (response) => {
      textOf(response, vault).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    request.once("error", reject);
    request.end(body);
  });
}

function decryptUrl({ url, mount, keyName }: VaultOptions): URL {
  const target = new URL(url);
  target.pathname = `${target.pathname.replace(/\/+$/, "")}/v1/${mount}/decrypt/${keyName}`;
  target.search = "";
  return target;
}

async function textOf(response: IncomingMessage, vault: VaultOptions): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    // guard(drop): the answer of Vault is limited
    // fails: packages/server/src/store/crypto/vault-transit.test.ts › without end
    if (size > MAX_ANSWER_BYTES) throw noAnswer(vault);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function keyOf(text: string, vault: VaultOptions, line: string): Buffer {
  const key = key256.read(plaintextOf(text) ?? "");
  if ("value" in key) return key.value;
  if (plaintextOf(text) === undefined) throw noAnswer(vault);
  throw new OperatorError(
    "key-source-unusable",
    `Vault unwrapped ${line} to something other than a key of 32 bytes: wrap the base64 text of the key itself`,
  );
}

/** Reads the key, in base64, from the answer to a decryption; `undefined` if the answer has none. */
function plaintextOf(text: string): string | undefined {
  try {
    const { data } = JSON.parse(text) as { readonly data?: { readonly plaintext?: unknown } };
    return typeof data?.plaintext === "string" ? data.plaintext : undefined;
  } catch {
    return undefined;
  }
}

const noAnswer = (vault: VaultOptions): OperatorError =>
  new OperatorError("key-source-unusable", `${describeVault(vault)} sent something that is no answer of Vault`);

/** Explains a status other than 200 to the person who must correct the cause. The text of the answer is not quoted. */
function refusalError(
  vault: VaultOptions,
  status: number,
  asked?: { readonly line: string; readonly context: string },
): OperatorError {
  const key = vaultKey(vault);
  if (status === 503) return new Unavailable(`${describeVault(vault)} is sealed or in maintenance (503)`);
  if (status === 429 || status >= 500) return new Unavailable(`${describeVault(vault)} failed to decrypt (${status})`);
  const unusable = (problem: string): OperatorError => new OperatorError("key-source-unusable", problem);
  if (status === 403) {
    const policy = `its policy must allow update on ${vault.mount}/decrypt/${vault.keyName}`;
    return unusable(
      `Vault refuses to decrypt by ${key} (403): the token in ${vault.tokenFile} has expired, or ${policy}`,
    );
  }
  if (status === 404)
    return unusable(`Vault has no Transit engine at ${vault.mount} (404), or it is in another namespace`);
  if (status === 400 && asked) {
    return unusable(
      `Vault can't unwrap ${asked.line} by ${key} (400): it was wrapped by another key or for another installation. ` +
        `The context of this installation is ${asked.context}`,
    );
  }
  return unusable(
    `${describeVault(vault)} answered ${status}, which is no answer to a decryption: DRS_VAULT_URL must name Vault itself`,
  );
}

function unreachable(vault: VaultOptions, error: unknown): Unavailable {
  const { code } = error as NodeJS.ErrnoException;
  return new Unavailable(`${describeVault(vault)} can't be reached: ${code ?? "no connection"}`, { cause: error });
}

const describeVault = ({ url }: VaultOptions): string => `Vault at ${new URL(url).host}`;

async function readTextFile(path: string, what: string, advice?: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    const problem = `${what} can't be read from ${path}: ${cause.code}`;
    throw new OperatorError("key-file-unusable", advice === undefined ? problem : `${problem}. To make it, ${advice}`, {
      cause,
    });
  });
}
