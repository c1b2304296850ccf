import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, vi } from "vitest";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { keysOfVault, vaultContext, type VaultOptions } from "./vault-transit.ts";
import { startVault, type Vault } from "./vault-transit.fixture.ts";

const INSTALLATION = "0199d4c2-0000-7000-8000-000000000001";
const CONTEXT = vaultContext(INSTALLATION);
const DEADLINE = { ms: 20_000 };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let vault: Vault;
let wrappedKeyFile: string;
let key: Buffer;

beforeAll(async () => {
  folder = await temporaryFolder();
  vault = await startVault(folder.path);
  wrappedKeyFile = join(folder.path, "wrapped");
});

afterAll(async () => {
  await vault?.close();
  await folder?.remove();
});

afterEach(() => {
  vi.unstubAllEnvs();
});

beforeEach(async () => {
  key = randomBytes(32);
  vault.behave(() => false);
  await write(vault.wrap(key, CONTEXT));
});

const write = (...lines: readonly string[]): Promise<void> => writeFile(wrappedKeyFile, lines.join("\n"));

const optionsOf = ({ url, tokenFile, caFile }: Vault = vault): VaultOptions => ({
  url,
  mount: "transit",
  keyName: "drs",
  wrappedKeyFile,
  tokenFile,
  caFile,
});

const unwrap = (changes: Partial<VaultOptions> = {}, deadline = DEADLINE): Promise<readonly Buffer[]> =>
  keysOfVault({ ...optionsOf(), ...changes }, INSTALLATION, deadline);

/** Checks that the error contains no secret. @returns the error. */
async function failure(changes: Partial<VaultOptions> = {}, deadline = DEADLINE): Promise<Error & { code: string }> {
  const error: unknown = await unwrap(changes, deadline).then(
    () => expect.unreachable("it unwrapped"),
    (caught: unknown) => caught,
  );
  const shown = inspect(error, { depth: 10 });
  for (const secret of [key.toString("base64"), vault.token, "ECHO"]) expect(shown).not.toContain(secret);
  return error as Error & { code: string };
}

describe("keys that Vault has wrapped", () => {
  it("are unwrapped, oldest first, with the token in the file", async () => {
    const before = randomBytes(32);
    await write(vault.wrap(before, CONTEXT), "", `${vault.wrap(key, CONTEXT)}\r`, "");
    expect(await unwrap()).toEqual([before, key]);
    expect(await unwrap({ url: `${vault.url}/` })).toEqual([before, key]);
  });

  it("are unwrapped after the Transit key was rotated, until Vault disallows their version", async () => {
    vault.key.rotate();
    expect(await unwrap()).toEqual([key]);
    vault.key.minDecryptionVersion = 2;
    expect((await failure()).message).toContain(`can't unwrap line 1 of ${wrappedKeyFile}`);
    vault.key.minDecryptionVersion = 1;
  });

  it("are refused if they belong to another installation, with a message that has the right context", async () => {
    await write(vault.wrap(key, CONTEXT), vault.wrap(key, vaultContext("another installation")));
    const error = await failure();
    expect(error.code).toBe("key-source-unusable");
    expect(error.message).toMatch(/^Vault can't unwrap line 2 of \S+ by transit\/drs of 127\.0\.0\.1:\d+ \(400\)/);
    expect(error.message).toContain(CONTEXT);
  });

  it("are refused if the Transit key is not derived, because it would open the keys of every installation", async () => {
    const careless = await startVault(folder.path, { derived: false });
    await write(careless.wrap(key, vaultContext("another installation")));
    expect(await failure(optionsOf(careless))).toMatchObject({
      code: "key-source-unusable",
      message: expect.stringMatching(/is not derived.*derived=true/) as unknown,
    });
    await careless.close();
  });

  it("are unwrapped in a namespace, and with a token that was renewed in the meantime", async () => {
    const namespaced = await startVault(folder.path, { namespace: "teams/fraud" });
    await write(namespaced.wrap(key, CONTEXT));
    const options = optionsOf(namespaced);
    expect(await unwrap({ ...options, namespace: "teams/fraud" })).toEqual([key]);
    expect((await failure(options)).message).toMatch(/no Transit engine at transit \(404\)/);
    await writeFile(options.tokenFile, "hvs.expired");
    expect((await failure({ ...options, namespace: "teams/fraud" })).message).toMatch(/\(403\): the token in/);
    await writeFile(options.tokenFile, namespaced.token);
    expect(await unwrap({ ...options, namespace: "teams/fraud" })).toEqual([key]);
    await namespaced.close();
  });

  it("must be keys of 32 bytes", async () => {
    await write(vault.wrap(Buffer.from(key.toString("base64")), CONTEXT));
    expect((await failure()).message).toMatch(
      /something other than a key of 32 bytes: wrap the base64 text of the key itself/,
    );
  });

  it.each([[""], ["vault:v1:"], ["vault:v1:a b"], ["key"], ["vault:v1:QUJDvault:v1:QUJD"], ["\n\n"]])(
    "are refused before Vault is called if a line has another form: %j",
    async (content) => {
      await write(content);
      const before = vault.asked.length;
      expect(await failure()).toMatchObject({
        code: "key-file-unusable",
        message: expect.stringMatching(/^line \d of \S+ must be what Vault printed/) as unknown,
      });
      expect(vault.asked).toHaveLength(before);
    },
  );

  it("are explained with the context for wrapping if they are missing", async () => {
    await rm(wrappedKeyFile);
    const { message } = await failure();
    expect(message).toContain(`can't be read from ${wrappedKeyFile}: ENOENT`);
    expect(message).toContain(CONTEXT);
  });
});

describe("Vault's token and certificates", () => {
  it.each(["", "two tokens", "ECHO\r\nX-Other: 1"])("a token file with %j is rejected", async (content) => {
    const tokenFile = join(folder.path, "bad-token");
    await writeFile(tokenFile, content);
    expect(await failure({ tokenFile })).toMatchObject({ code: "key-file-unusable" });
    await rm(tokenFile);
    expect((await failure({ tokenFile })).message).toContain("ENOENT");
  });

  it("a certificate of another authority is refused, and the token is not sent", async () => {
    const before = vault.asked.length;
    const error = await failure({ caFile: undefined });
    expect(error).toMatchObject({ code: "dependency-unavailable" });
    expect(error.message).toMatch(/^Vault at \S+ can't be reached: \w*SELF_SIGNED\w*$/);
    expect((await failure({ url: vault.url.replace("127.0.0.1", "localhost") })).message).toMatch(
      /can't be reached: (ERR_TLS_CERT_ALTNAME_INVALID|ECONNREFUSED)$/,
    );
    const caFile = join(folder.path, "no-certificate");
    await writeFile(caFile, "no certificate");
    expect(await failure({ caFile })).toBeInstanceOf(Error);
    expect(vault.asked).toHaveLength(before);
  });

  it("the certificate is checked even with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    expect((await failure({ caFile: undefined })).message).toMatch(/SELF_SIGNED/);
  });

  it("a Vault on loopback may use plain HTTP", async () => {
    const plain = createServer((request, response) => {
      const isFirst =
        request.headers["x-vault-token"] === vault.token && request.headers["content-length"] !== undefined;
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        const { status, body } = vault.key.decrypt(JSON.parse(text) as object);
        response.writeHead(isFirst ? status : 500).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    expect(await unwrap({ url: `http://127.0.0.1:${(plain.address() as AddressInfo).port}` })).toEqual([key]);
    await new Promise((resolve) => plain.close(resolve));
  });
});

describe("a Vault that fails", () => {
  const answers = (status: number, text = `{"errors":["ECHO"]}`): void =>
    vault.behave((response) => void response.writeHead(status, { Location: "https://elsewhere/ECHO" }).end(text));

  it.each([
    [503, "dependency-unavailable", /is sealed or in maintenance \(503\)$/],
    [500, "dependency-unavailable", /failed to decrypt \(500\)$/],
    [429, "dependency-unavailable", /failed to decrypt \(429\)$/],
    [403, "key-source-unusable", /refuses to decrypt by transit\/drs .* must allow update on transit\/decrypt\/drs$/],
    [404, "key-source-unusable", /has no Transit engine at transit \(404\)/],
    [307, "key-source-unusable", /answered 307, which is no answer to a decryption/],
    [204, "key-source-unusable", /answered 204/],
  ])("that answers %i is named with what to do", async (status, code, message) => {
    answers(status);
    const error = await failure();
    expect(error).toMatchObject({ code });
    expect(error.message).toMatch(message);
  });

  test.each(["ECHO", "", "null", "[]", '{"data":null}', '{"data":{"plaintext":1}}', '{"data":{"plaintext":"ECHO"}}'])(
    "that answers 200 with %s is refused",
    async (text) => {
      answers(200, text);
      expect(await failure()).toMatchObject({ code: "key-source-unusable" });
    },
  );

  it("never provides a key if the answer has none, and no error quotes the answer", async () => {
    const status = fc.constantFrom(200, 201, 302, 400, 401, 403, 404, 412, 418, 429, 472, 500, 502, 503);
    const text = fc.oneof(
      fc.json(),
      fc.string(),
      fc.base64String().map((plaintext) => `{"data":{"plaintext":"${plaintext}"}}`),
    );
    await fc.assert(
      fc.asyncProperty(status, text, async (code, answer) => {
        answers(code, answer);
        const error = await failure();
        expect(error).toBeInstanceOf(OperatorError);
        if (answer.length > 20) expect(inspect(error, { depth: 10 })).not.toContain(answer);
      }),
      { numRuns: 60 },
    );
  });

  it("that fails in the check for a derived key provides no keys", async () => {
    let requests = 0;
    vault.behave((response) => {
      if (++requests === 1) return false;
      response.writeHead(403).end();
      return true;
    });
    expect((await failure()).message).toMatch(/refuses to decrypt/);
  });

  it("that answers without end is cut off", async () => {
    vault.behave((response) => {
      response.writeHead(200);
      const flood = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, "ECHO")));
      };
      response.on("drain", flood);
      flood();
    });
    expect(await failure()).toMatchObject({
      code: "key-source-unusable",
      message: expect.stringMatching(/sent something that is no answer of Vault/) as unknown,
    });
  });

  it.each<[string, () => void]>([
    ["takes the request and never answers", () => vault.behave(() => {})],
    ["begins its answer and hangs", () => vault.behave((response) => void response.writeHead(200).write('{"data":'))],
  ])("that %s has the deadline", async (_, hang) => {
    hang();
    const begun = performance.now();
    const error = await failure({}, { ms: 150 });
    expect(error).toMatchObject({ code: "dependency-silent" });
    expect(error.message).toMatch(/^Vault at 127\.0\.0\.1:\d+ gave no answer within 150 ms$/);
    expect(performance.now() - begun).toBeLessThan(1_000);
  });

  it("that closes the connection, or does not listen, is reported as unreachable", async () => {
    vault.behave((response) => void response.destroy());
    expect((await failure()).message).toMatch(/can't be reached: ECONNRESET$/);
    const dead = await startVault(folder.path);
    await dead.close();
    expect((await failure({ url: dead.url })).message).toMatch(/can't be reached: ECONNREFUSED$/);
  });

  it("ends its request when the server stops", async () => {
    vault.behave(() => {});
    const stopping = new AbortController();
    const asking = keysOfVault(optionsOf(), INSTALLATION, { ms: 60_000, stop: stopping.signal });
    setTimeout(() => stopping.abort(new Error("the server stops")), 20);
    await expect(asking).rejects.toThrow("the server stops");
  });

  afterEach(() => vault.behave(() => false));
});
