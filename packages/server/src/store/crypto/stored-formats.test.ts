/** Compares every stored format with the test vectors in docs/decisions, because stored data must stay readable. */
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { formatLogKey, parseLogKey, signCheckpoint, verifyCheckpoint } from "../../audit/log/checkpoint.ts";
import { leafHash } from "../../audit/log/merkle.ts";
import { type AuditRecord, decodeRecord, encodeRecord, type Surface } from "../audit-record/record.ts";
import { macOf } from "./mac.ts";
import { surfaceKeys } from "../audit-record/surfaces.ts";
import { EntryCodec } from "../../lifecycle/journal/entry-codec.ts";
import { digestOf } from "../../lifecycle/journal/journal.ts";
import { readLatestEntry, readWatermark } from "../../lifecycle/journal/key-store-watermark.ts";
import type { EventIdentity } from "../../base/ports.ts";
import { receiptSigner, verifyReceipt } from "../../lifecycle/receipts/receipt-signer.ts";
import { decompress } from "./compression.ts";
import { deriveKey } from "./derive-key.ts";
import { ed25519Key } from "./ed25519-key.ts";
import { versionOfKey } from "./key-encryption.ts";
import { KEY_STORE_WATERMARKS, type KeyStoreWatermark } from "./key-store.ts";
import { Pseudonymizer, uuidBytes } from "./pseudonymizer.ts";
import { openDetail, type PersonalDetail } from "../../audit/personal-detail.ts";
import { keysOf, memoryKeyStore } from "./memory-key-store.fixture.ts";
import { createSealer } from "./sealer.ts";
import { secretId, Secrets } from "./secrets.ts";

const FILE = join(import.meta.dirname, "../../../../../docs/decisions/0010-stored-formats.vectors.json");

interface Vectors {
  readonly key_encryption_key: string;
  readonly key_encryption_key_version: string;
  /** Wrapped secrets by their names. */
  readonly secrets: Readonly<
    Record<string, { readonly id: string; readonly wrapped: string; readonly secret: string }>
  >;
  readonly installation: string;
  readonly installation_check: string;
  readonly event: EventIdentity & { readonly key_id: string; readonly partition_id: string; readonly hold_id: string };
  readonly exact: string;
  readonly sealed: string;
  readonly sealed_copy: string;
  readonly exact_with_tokens: string;
  /** The version of the dictionary (1), and the compressed text. `npm run train-dictionary` writes it. */
  readonly compressed_with_tokens: string;
  readonly request_mac: string;
  readonly idempotency_key: string;
  readonly tombstone_name: string;
  readonly masked_event_id: string;
  readonly subjects: Readonly<Record<string, string>>;
  readonly journal_entry: string;
  readonly accepted_loss: string;
  readonly audit: {
    /** Byte strings are in hexadecimal, as in the whole file. */
    readonly record: Omit<AuditRecord, "subjects" | "sealed" | "previous"> & {
      readonly subjects: readonly string[];
      readonly sealed: string;
      readonly previous: { readonly lane: string; readonly number: number; readonly mac: string };
    };
    readonly bytes: string;
    readonly leaf: string;
    readonly macs: Readonly<Record<Surface, string>>;
    readonly sealed_detail: string;
    readonly opened_detail: PersonalDetail;
    readonly checkpoint: string;
    readonly checkpoint_key: string;
  };
  readonly watermarks: Readonly<Record<KeyStoreWatermark, string>>;
  readonly receipt: string;
  readonly receipt_public_key: string;
}

let vectors: Vectors;
let installation: Buffer;
const hex = (text: string): Buffer => Buffer.from(text, "hex");

beforeAll(async () => {
  vectors = JSON.parse(await readFile(FILE, "utf8")) as Vectors;
  installation = hex(vectors.secrets[`installation/${vectors.installation}`]?.secret ?? "");
});

function storedSecrets(): Secrets {
  const { store, entries } = memoryKeyStore();
  for (const { id, wrapped } of Object.values(vectors.secrets)) entries.set(id, hex(wrapped));
  return new Secrets(store, keysOf(hex(vectors.key_encryption_key)));
}

function sealer(): ReturnType<typeof createSealer> {
  const { key_id, partition_id } = vectors.event;
  const keys = {
    current: () => ({ keyId: key_id, keyEpoch: { erasure: 0, loss: 0 } }),
    refresh: async () => {},
    keyEpoch: { erasure: 0, loss: 0 },
    generation: 0,
    existing: () => undefined,
    onErased: () => {},
  };
  const partition = { secret: partition_id, wasCreated: true, lostSecrets: [], end: Number.POSITIVE_INFINITY };
  const partitions = { find: () => partition, ensure: async () => partition, recordCreated: async () => {} };
  return createSealer(
    storedSecrets(),
    keys,
    partitions,
    async (hold) => [hold],
    deriveKey(installation, "request mac"),
  );
}

test("the stored form of a wrapped secret does not change: id, key-encryption key, content", async () => {
  expect(versionOfKey(hex(vectors.key_encryption_key))).toBe(vectors.key_encryption_key_version);
  for (const [name, { id, secret }] of Object.entries(vectors.secrets)) {
    expect(secretId(name), name).toBe(id);
    expect((await storedSecrets().find(name))?.toString("hex"), name).toBe(secret);
  }
});

test("the check value of an installation does not change", () => {
  const check = createHmac("sha256", deriveKey(installation, "installation check")).update("installation check");
  expect(check.digest("hex")).toBe(vectors.installation_check);
});

test("the stored forms of a sealed payload and of a held copy do not change", async () => {
  const { event, exact, sealed, sealed_copy } = vectors;
  const opened = await sealer().open(event, { keyId: event.key_id }, hex(sealed));
  expect(opened.toString()).toBe(exact);
  const copy = await sealer().open(event, { holdId: event.hold_id }, hex(sealed_copy));
  expect(copy.toString()).toBe(exact);
});

test("the stored form of names that are replaced by tokens does not change", () => {
  const [dictionary = 0, ...bytes] = hex(vectors.compressed_with_tokens);
  expect(decompress({ dictionary, bytes: Buffer.from(bytes) }).toString()).toBe(vectors.exact_with_tokens);
});

test("the ledger's MAC of a request does not change", () => {
  const mac = sealer().requestMac(vectors.event.eventId, Buffer.from(vectors.exact));
  expect(mac.toString("hex")).toBe(vectors.request_mac);
});

test("the stored form of a tombstone, and of keyed MACs of subjects, does not change", () => {
  const pseudonymizer = new Pseudonymizer(deriveKey(installation, "ledger names"));
  const { event, idempotency_key: key } = vectors;
  expect(pseudonymizer.tombstoneNameOf(event.account, key).toString("hex")).toBe(vectors.tombstone_name);
  expect(pseudonymizer.mask(event.account, key, uuidBytes(event.eventId)).toString("hex")).toBe(
    vectors.masked_event_id,
  );
  expect({
    "erased account": pseudonymizer.subjectOf("account", event.account).toString("hex"),
    "erased purpose": pseudonymizer.subjectOf("purpose", event.account, String(event.purpose)).toString("hex"),
    "held account": pseudonymizer.heldSubjectOf("account", event.account).toString("hex"),
    "held action_id": pseudonymizer.heldSubjectOf("action_id", "act_1").toString("hex"),
    "restricted account": pseudonymizer.restrictedAccountOf(event.account).toString("hex"),
  }).toEqual(vectors.subjects);
});

test("the stored form of an entry of the erasure journal, and of an accepted loss, does not change", () => {
  const codec = new EntryCodec(deriveKey(installation, "erasure journal"), vectors.installation);
  const entry = codec.decode({ sequence: 1, text: vectors.journal_entry });
  expect(codec.encode(entry)).not.toContain(vectors.event.account);
  const loss = codec.decodeLoss({ sequence: 2, text: vectors.accepted_loss });
  expect([entry.kind, loss.kind]).toEqual(["account", "loss"]);
});

test("the form of the watermarks does not change", async () => {
  const { store } = memoryKeyStore();
  const { watermarks, journal_entry } = vectors;
  for (const name of Object.values(KEY_STORE_WATERMARKS)) await store.writeWatermark(name, watermarks[name]);
  expect(await readWatermark(store)).toBe(1);
  expect(await readLatestEntry(store)).toEqual({ sequence: 1, digest: digestOf(journal_entry) });
});

test("the form of a receipt does not change", async () => {
  const signer = await receiptSigner(storedSecrets());
  expect(signer.publicKey).toBe(vectors.receipt_public_key);
  const receipt = await verifyReceipt(vectors.receipt, vectors.receipt_public_key);
  expect(await signer.sign(receipt)).toBe(vectors.receipt);
});

test("the stored form of an audit record, of its MAC under the key of each surface, and of its leaf does not change", () => {
  const { record, bytes, macs, leaf } = vectors.audit;
  const { subjects, sealed, previous } = record;
  const decoded = {
    ...record,
    subjects: subjects.map(hex),
    sealed: hex(sealed),
    previous: { ...previous, mac: hex(previous.mac) },
  };
  expect(decodeRecord(hex(bytes))).toEqual(decoded);
  expect(encodeRecord(decoded).toString("hex")).toBe(bytes);
  const keys = Object.entries(surfaceKeys(installation));
  expect(Object.fromEntries(keys.map(([surface, key]) => [surface, macOf(key, hex(bytes)).toString("hex")]))).toEqual(
    macs,
  );
  expect(leafHash(hex(bytes), hex(macs.direct)).toString("hex")).toBe(leaf);
});

test("the stored form of the sealed reason and detail of an audit entry does not change", async () => {
  const { record, sealed_detail, opened_detail } = vectors.audit;
  const { entryId, secretId: id } = record;
  const opened = await openDetail(storedSecrets(), { entryId, secretId: id, sealed: hex(sealed_detail) });
  expect(opened).toEqual(opened_detail);
});

test("the form of a checkpoint of the audit log, and of its key, does not change", () => {
  const { leaf, checkpoint, checkpoint_key } = vectors.audit;
  const key = ed25519Key(hex(vectors.secrets["audit checkpoints/1"]?.secret ?? ""));
  const content = { origin: `drs-audit/${vectors.installation}`, size: 1, root: hex(leaf) };
  expect(signCheckpoint(content, key)).toBe(checkpoint);
  expect(formatLogKey(content.origin, key)).toBe(checkpoint_key);
  const publicKey = parseLogKey(checkpoint_key);
  expect(publicKey && verifyCheckpoint(checkpoint, publicKey)).toEqual(content);
});
