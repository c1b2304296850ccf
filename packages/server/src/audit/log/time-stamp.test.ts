/** Time stamps of RFC 3161, signed by OpenSSL. */
import { X509Certificate } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { openTimeStamp, type TimeStamp, type TimeStampOptions, timeStampQuery } from "./time-stamp.ts";
import { type Authority, infoOf, makeAuthority } from "./time-stamp-authority.fixture.ts";

const folder = useFolder();
const [MESSAGE, NONCE] = [Buffer.from("a checkpoint"), Buffer.alloc(16, 0xc0)];
const QUERY = timeStampQuery(MESSAGE, NONCE);
const SECOND_MS = 1_000;

let authority: Authority;
let other: Authority;
let reply: Buffer;

async function authorityIn(name: string, kind: "ec" | "rsa:2048"): Promise<Authority> {
  await mkdir(`${folder()}/${name}`);
  return makeAuthority(`${folder()}/${name}`, kind);
}

beforeAll(async () => {
  [authority, other] = await Promise.all([authorityIn("one", "ec"), authorityIn("other", "rsa:2048")]);
  reply = await authority.reply(QUERY);
});

const open = (bytes: Buffer, given: Partial<TimeStampOptions> = {}): TimeStamp =>
  openTimeStamp(bytes, { message: MESSAGE, nonce: NONCE, trusted: authority.trusted, ...given });

describe("a time stamp", () => {
  it("says when the authority saw the message, with the same time as OpenSSL", async () => {
    const stamp = open(reply);
    expect(stamp).toEqual({ at: expect.any(Date) as Date });
    expect(Math.abs(("at" in stamp ? stamp.at.getTime() : 0) - Date.now())).toBeLessThan(60 * SECOND_MS);
    expect(await authority.accepts(MESSAGE, reply)).toBe(true);
    const ofOther = openTimeStamp(await other.reply(QUERY), { message: MESSAGE, trusted: other.trusted });
    expect(ofOther).toHaveProperty("at");
  });

  it("may be signed by a certificate that is itself trusted", () => {
    const signer = readSigner(reply);
    expect(open(reply, { trusted: [signer] })).toHaveProperty("at");
  });

  it.each([
    ["of another message", () => open(reply, { message: Buffer.from("another") }), "it is of another message"],
    ["of another query", () => open(reply, { nonce: Buffer.alloc(16, 1) }), "it is of another query"],
    ["of an authority that is not trusted", () => open(reply, { trusted: other.trusted }), "its signer is not trusted"],
    ["without a trusted certificate", () => open(reply, { trusted: [] }), "its signer is not trusted"],
  ])("%s is refused", (_, opened, problem) => {
    expect(opened()).toEqual({ problem });
  });

  it("of a certificate for another use is rejected, as by OpenSSL", async () => {
    const bytes = await authority.replyOfServer(QUERY);
    expect(open(bytes)).toEqual({ problem: "its signer may not sign time stamps" });
    expect(await authority.accepts(MESSAGE, bytes)).toBe(false);
  });

  it("that was not granted is refused", async () => {
    const rejected = await authority.reply(Buffer.from("300a", "hex"));
    expect(open(rejected)).toEqual({ problem: "the authority granted no time stamp" });
  });

  it("that was changed is refused or says the same, one that was cut off is refused, and none throws", () => {
    const stamp = open(reply);
    const info = infoOf(reply);
    const start = reply.indexOf(info);
    for (let index = 0; index < reply.length; index += 3) {
      const changed = Buffer.from(reply);
      changed[index] = (changed[index] ?? 0) ^ 1;
      const isCovered = index > reply.length - 64 || (index >= start && index < start + info.length);
      // No signature covers the status, versions, the name of the signer and certificates that are not needed.
      if (isCovered) expect(open(changed), String(index)).toHaveProperty("problem");
      else if ("at" in open(changed)) expect(open(changed), String(index)).toEqual(stamp);
      expect(open(reply.subarray(0, index))).toHaveProperty("problem");
    }
  });
});

/** The certificate of the signer, which the reply has first or second. */
function readSigner(bytes: Buffer): X509Certificate {
  for (let at = 0; at < bytes.length - 4; at++) {
    if (bytes[at] !== 0x30 || bytes[at + 1] !== 0x82) continue;
    try {
      const one = new X509Certificate(bytes.subarray(at, at + 4 + bytes.readUInt16BE(at + 2)));
      if (!one.ca) return one;
    } catch {
      // Another value of this length.
    }
  }
  throw new Error("the reply has no certificate of a signer");
}
