/** Time stamps of RFC 3161: an authority signs that it saw a hash at a time. */
import { createHash, timingSafeEqual, verify, X509Certificate } from "node:crypto";
import { type Der, encode, encodeInteger, encodeOid, membersOf, readAll, TAGS } from "./der.ts";

const SHA256 = "2.16.840.1.101.3.4.2.1";
const SIGNED_DATA = "1.2.840.113549.1.7.2";
const TST_INFO = "1.2.840.113549.1.9.16.1.4";
const CONTENT_TYPE = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST = "1.2.840.113549.1.9.4";
const SIGNING_CERTIFICATE = "1.2.840.113549.1.9.16.2.12";
const SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47";
/** The extended key usage of a certificate that may sign only time stamps. */
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";

const DIGESTS: Readonly<Record<string, string>> = {
  [SHA256]: "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512",
};
/** Signature algorithms that imply a digest. Plain RSA uses the digest that the signer names. */
const SIGNATURES: Readonly<Record<string, string>> = {
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
};
const RSA = "1.2.840.113549.1.1.1";

const hashOf = (algorithm: string, bytes: Buffer): Buffer => createHash(algorithm).update(bytes).digest();
const isEqual = (one: Buffer | undefined, other: Buffer): boolean =>
  one?.length === other.length && timingSafeEqual(one, other);

/** The object identifiers that this file compares, by their encoding. */
const OIDS = new Map(
  [SIGNED_DATA, TST_INFO, CONTENT_TYPE, MESSAGE_DIGEST, SIGNING_CERTIFICATE, SIGNING_CERTIFICATE_V2, RSA]
    .concat(Object.keys(DIGESTS), Object.keys(SIGNATURES))
    .map((text) => [encodeOid(text).toString("hex"), text]),
);
const oidOf = (der: Der | undefined): string => (der && OIDS.get(der.raw.toString("hex"))) ?? "";

/** A query for the SHA-256 of a message, with the certificate of the authority. @param nonce random. */
export function timeStampQuery(message: Buffer, nonce: Buffer): Buffer {
  const algorithm = encode(TAGS.sequence, encodeOid(SHA256), Buffer.of(5, 0));
  const imprint = encode(TAGS.sequence, algorithm, encode(TAGS.octets, hashOf("sha256", message)));
  return encode(TAGS.sequence, encodeInteger(Buffer.of(1)), imprint, encodeInteger(nonce), Buffer.of(1, 1, 0xff));
}

export interface TimeStampOptions {
  readonly message: Buffer;
  /** The nonce of the query. It is absent for a stored reply, whose nonce was checked when the reply came. */
  readonly nonce?: Buffer;
  /** Trusted certificates: that of the authority itself, or one that signed it directly or through others. */
  readonly trusted: readonly X509Certificate[];
}

/** When the authority saw the message, or why the reply does not prove it. */
export type TimeStamp = { readonly at: Date } | { readonly problem: string };

/** @param reply a time-stamp response in DER. */
export function openTimeStamp(reply: Buffer, options: TimeStampOptions): TimeStamp {
  const [root] = readAll(reply) ?? [];
  const [status, token] = membersOf(root, TAGS.sequence);
  const [code] = membersOf(status, TAGS.sequence);
  // Granted, or granted with modifications.
  if (code?.tag !== TAGS.integer || code.value.length !== 1 || (code.value[0] ?? 2) > 1) {
    return { problem: "the authority granted no time stamp" };
  }
  const signed = readSigned(token);
  if (!signed) return { problem: "the reply is no time stamp" };
  const at = timeOf(signed.info, options);
  if (typeof at === "string") return { problem: at };
  const problem = problemOfSigner(signed, at, options.trusted);
  return problem === undefined ? { at } : { problem };
}

/**
 * Certificates of a reply beyond this number are ignored. A chain has two or three; each one costs verifications of
 * signatures on the main thread.
 */
const MAX_CERTIFICATES = 8;

interface Signed {
  /** The bytes of the time-stamp information. */
  readonly info: Buffer;
  readonly certificates: readonly X509Certificate[];
  /** Object identifiers. */
  readonly digest: string;
  readonly algorithm: string;
  /** The signed attributes, encoded as they were signed: with the tag of a set. */
  readonly attributes: Buffer;
  readonly signature: Buffer;
}

/** Reads signed data (RFC 5652, section 5) that has exactly one signer. */
function readSigned(token: Der | undefined): Signed | undefined {
  const [type, explicit] = membersOf(token, TAGS.sequence);
  const [data] = membersOf(explicit, TAGS.context0);
  const [, , content, ...rest] = membersOf(data, TAGS.sequence);
  const [contentType, octets] = membersOf(content, TAGS.sequence);
  const [info] = membersOf(octets, TAGS.context0);
  const signers = membersOf(rest.at(-1), TAGS.set);
  const [, , digest, attributes, algorithm, signature] = membersOf(signers[0], TAGS.sequence);
  if (oidOf(type) !== SIGNED_DATA || oidOf(contentType) !== TST_INFO || info?.tag !== TAGS.octets) return undefined;
  if (signers.length !== 1 || attributes?.tag !== TAGS.context0 || signature?.tag !== TAGS.octets) return undefined;
  return {
    info: info.value,
    certificates: membersOf(rest[0], TAGS.context0).slice(0, MAX_CERTIFICATES).flatMap(certificateOf),
    digest: oidOf(membersOf(digest, TAGS.sequence)[0]),
    algorithm: oidOf(membersOf(algorithm, TAGS.sequence)[0]),
    attributes: encode(TAGS.set, attributes.value),
    signature: signature.value,
  };
}

function certificateOf({ raw }: Der): readonly X509Certificate[] {
  try {
    return [new X509Certificate(raw)];
  } catch {
    return [];
  }
}

/** @returns the time, or a text that says what is wrong. */
function timeOf(bytes: Buffer, { message, nonce }: TimeStampOptions): Date | string {
  const [info] = readAll(bytes) ?? [];
  const [, , imprint, , time, ...rest] = membersOf(info, TAGS.sequence);
  const [algorithm, hash] = membersOf(imprint, TAGS.sequence);
  const isSha256 = oidOf(membersOf(algorithm, TAGS.sequence)[0]) === SHA256;
  // guard(false): a time stamp of another checkpoint is refused
  // fails: packages/server/src/audit/log/time-stamp.test.ts › of another message
  if (!isSha256 || !isEqual(hash?.value, hashOf("sha256", message))) return "it is of another message";
  const given = rest.find(({ tag }) => tag === TAGS.integer);
  // guard(false): an earlier reply is refused
  // fails: packages/server/src/audit/log/time-stamp.test.ts › of another query
  if (nonce && !given?.raw.equals(encodeInteger(nonce))) return "it is of another query";
  const [, year, month, day, hour, minute, second, fraction = ""] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d{1,9})?Z$/.exec(time?.value.toString("latin1") ?? "") ?? [];
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}Z`);
  return time?.tag === TAGS.generalizedTime && !Number.isNaN(at.getTime()) ? at : "its time is not readable";
}

function problemOfSigner(signed: Signed, at: Date, trusted: readonly X509Certificate[]): string | undefined {
  const digest = DIGESTS[signed.digest];
  const algorithm = SIGNATURES[signed.algorithm] ?? (signed.algorithm === RSA ? digest : undefined);
  if (digest === undefined || algorithm === undefined) return "its signature is of a kind that is not known here";
  const attribute = attributesOf(signed);
  const signer = [...signed.certificates, ...trusted].find((one) => isNamed(one, attribute));
  if (!signer) return "its signer has no certificate";
  const isOfInfo = isEqual(attribute(MESSAGE_DIGEST)?.value, hashOf(digest, signed.info));
  const isSigned = isSignedBy(signer, algorithm, signed);
  // guard(false): a time stamp has the signature of its signer
  // fails: packages/server/src/audit/log/time-stamp.test.ts › that was changed is refused
  if (oidOf(attribute(CONTENT_TYPE)) !== TST_INFO || !isOfInfo || !isSigned) return "its signature is wrong";
  // guard(false): a certificate of another use signs no time stamp
  // fails: packages/server/src/audit/log/time-stamp.test.ts › for another use
  if (signer.keyUsage?.join() !== TIME_STAMPING) return "its signer may not sign time stamps";
  // guard(false): an authority that is not trusted signs no time stamp
  // fails: packages/server/src/audit/log/time-stamp.test.ts › not trusted
  if (!isTrusted(signer, { at, certificates: signed.certificates, trusted })) return "its signer is not trusted";
  return undefined;
}

function isSignedBy({ publicKey }: X509Certificate, algorithm: string, { attributes, signature }: Signed): boolean {
  try {
    return verify(algorithm, attributes, publicKey, signature);
  } catch {
    // Thrown if a key of this type can't make signatures of this algorithm.
    return false;
  }
}

/** The value of each signed attribute by its type. */
function attributesOf({ attributes }: Signed): (type: string) => Der | undefined {
  const values = membersOf(readAll(attributes)?.[0], TAGS.set).map((attribute) => {
    const [type, set] = membersOf(attribute, TAGS.sequence);
    return [oidOf(type), membersOf(set, TAGS.set)[0]] as const;
  });
  return (type) => values.find(([name]) => name === type)?.[1];
}

/** Whether the signature names the certificate by its hash (RFC 2634, RFC 5816). */
function isNamed({ raw }: X509Certificate, attribute: (type: string) => Der | undefined): boolean {
  const named = (type: string): readonly Der[] => {
    const [ids] = membersOf(attribute(type), TAGS.sequence);
    return membersOf(membersOf(ids, TAGS.sequence)[0], TAGS.sequence);
  };
  const [first, second] = named(SIGNING_CERTIFICATE_V2);
  const isDefault = first?.tag === TAGS.octets;
  const digest = isDefault ? "sha256" : DIGESTS[oidOf(membersOf(first, TAGS.sequence)[0])];
  const [hash] = named(SIGNING_CERTIFICATE);
  return (
    (digest !== undefined && isEqual((isDefault ? first : second)?.value, hashOf(digest, raw))) ||
    isEqual(hash?.value, hashOf("sha1", raw))
  );
}

interface Chain {
  readonly at: Date;
  readonly certificates: readonly X509Certificate[];
  readonly trusted: readonly X509Certificate[];
}

/**
 * Whether a chain of certificates, each of which was valid at that time, leads from this certificate to a trusted one.
 */
function isTrusted(one: X509Certificate, chain: Chain, seen = new Set<string>()): boolean {
  const { at, certificates, trusted } = chain;
  if (seen.has(one.fingerprint256) || at < new Date(one.validFrom) || at > new Date(one.validTo)) return false;
  seen.add(one.fingerprint256);
  if (trusted.some(({ raw }) => raw.equals(one.raw))) return true;
  return [...trusted, ...certificates].some(
    (issuer) =>
      issuer.ca &&
      !seen.has(issuer.fingerprint256) &&
      one.checkIssued(issuer) &&
      one.verify(issuer.publicKey) &&
      isTrusted(issuer, chain, seen),
  );
}
