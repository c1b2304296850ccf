#!/usr/bin/env node
/**
 * Prints the key-encryption keys that Vault's Transit engine has wrapped, one a line: a command for
 * `DRS_KEY_ENCRYPTION_KEY_COMMAND`. On a failure it prints the cause to standard error, and ends with exit code 1.
 *
 * `VAULT_ADDR`: the URL of Vault. `VAULT_TOKEN_FILE`: a token that may update `transit/decrypt/KEY`.
 * `VAULT_WRAPPED_KEYS`: a file with what `vault write transit/encrypt/KEY` printed, one a line. `VAULT_CONTEXT`: the
 * context with which these keys were wrapped, in base64. `VAULT_TRANSIT_KEY`: the name of the Transit key, by default
 * `drs`. `VAULT_TRANSIT_MOUNT`, `VAULT_NAMESPACE`: where Vault has it. `NODE_EXTRA_CA_CERTS`: the authority of Vault's
 * certificate.
 */
import { readFileSync } from "node:fs";

// The certificate of Vault is checked, also if the environment of the server turns such checks off.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

const {
  VAULT_TRANSIT_KEY: name = "drs",
  VAULT_TRANSIT_MOUNT: mount = "transit",
  VAULT_NAMESPACE: namespace,
} = process.env;

function required(variable) {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set`);
  return value;
}

/** Reads the token. No error shows it. */
function readToken() {
  const token = readFileSync(required("VAULT_TOKEN_FILE"), "utf8").trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error("VAULT_TOKEN_FILE holds no token for Vault");
  return token;
}

/** The URL of a decryption. The token and the keys leave this host only by HTTPS. */
function decryptUrl() {
  const { protocol, hostname, origin } = new URL(required("VAULT_ADDR"));
  const isLoopback = ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
  if (protocol !== "https:" && !isLoopback) throw new Error("VAULT_ADDR must start with https: beyond loopback");
  return new URL(`/v1/${mount}/decrypt/${name}`, origin);
}

async function unwrap(ciphertext) {
  const response = await fetch(decryptUrl(), {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Vault-Request": "true",
      "X-Vault-Token": readToken(),
      ...(namespace && { "X-Vault-Namespace": namespace }),
    },
    body: JSON.stringify({ ciphertext, context: required("VAULT_CONTEXT") }),
    redirect: "error",
  });
  if (!response.ok) throw new Error(`Vault answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
  return (await response.json()).data.plaintext;
}

try {
  const wrapped = readFileSync(required("VAULT_WRAPPED_KEYS"), "utf8").trim().split(/\s+/);
  for (const ciphertext of wrapped) process.stdout.write(`${await unwrap(ciphertext)}\n`);
} catch (error) {
  process.stderr.write(`${error.message}${error.cause ? `: ${error.cause.message}` : ""}\n`);
  process.exitCode = 1;
}
