import { createSecretKey, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { uuidv7 } from "../../base/identifiers/uuidv7.ts";
import { type EventIdentity, Unavailable } from "../../base/ports.ts";
import type { KeyStore } from "./key-store.ts";
import { keysOf, memoryKeyStore } from "./memory-key-store.fixture.ts";
import { anyPayload, crowd, payload } from "./payloads.fixture.ts";
import { type AccountKeys, accountSecretName, createSealer } from "./sealer.ts";
import { type PartitionRegistry, type PartitionSecrets, partitionSecretName } from "./partition-secrets.ts";
import { secretId, Secrets } from "./secrets.ts";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-03-01T12:00:00.000Z");
const KEY = randomBytes(32);
const MAC_KEY = createSecretKey(randomBytes(32));

/** One partition for each purpose and day. */
class TestPartitions implements PartitionRegistry {
  readonly #created = new Set<string>();
  /** The number of failovers that the servers have detected. */
  failovers = 0;

  /** Simulates a database that loses its last seconds. */
  failOver(): void {
    this.#created.clear();
    this.failovers++;
  }

  find(purpose: number, at: number): PartitionSecrets {
    const day = Math.floor(at / DAY_MS);
    const secret = `${purpose}-${day}`;
    return { secret, wasCreated: this.#created.has(secret), lostSecrets: [], end: (day + 1) * DAY_MS };
  }

  async ensure(purpose: number, at: number): Promise<PartitionSecrets> {
    return this.find(purpose, at);
  }

  async recordCreated(secret: string): Promise<void> {
    this.#created.add(secret);
  }
}

function identityOf(change: Partial<EventIdentity> = {}): EventIdentity {
  return { account: "customer-1", eventId: uuidv7(NOW), purpose: 1, receivedAt: NOW, schemaVersion: 1, ...change };
}

const keyIdOf = (account: string, purpose: number): string => `${purpose}-${account}`;

/** One key for each account and purpose, whose secret is made when it is first needed. */
function accountKeys(secrets: Secrets, partitions: TestPartitions): AccountKeys {
  return {
    current: async (account, purpose) => {
      await secrets.findOrCreate(accountSecretName(keyIdOf(account, purpose)));
      return { keyId: keyIdOf(account, purpose), keyEpoch: { erasure: 0, loss: 0 } };
    },
    existing: () => undefined,
    onErased: () => {},
    refresh: async () => {},
    keyEpoch: { erasure: 0, loss: 0 },
    get generation() {
      return partitions.failovers;
    },
  };
}

/** A sealer on the key store. `macKey` replaces a key that is derived from the installation secret. */
function sealerOver(
  store: KeyStore,
  macKey = MAC_KEY,
  known = new TestPartitions(),
  partitions: PartitionRegistry = known,
) {
  const secrets = new Secrets(store, keysOf(KEY));
  const sealer = createSealer(secrets, accountKeys(secrets, known), partitions, async (hold) => [hold], macKey);
  return {
    requestMac: (eventId: string, bytes: Uint8Array) => sealer.requestMac(eventId, bytes),
    seal: async (identity: EventIdentity, bytes: Uint8Array) => (await sealer.seal(identity, bytes)).payload,
    open: (identity: EventIdentity, payload: Buffer) =>
      sealer.open(identity, { keyId: keyIdOf(identity.account, identity.purpose) }, payload),
    openMany: (events: readonly { readonly identity: EventIdentity; readonly payload: Buffer }[]) =>
      sealer.openMany(
        events.map(({ identity, payload }) => {
          return { ...identity, payload, sealedUnder: { keyId: keyIdOf(identity.account, identity.purpose) } };
        }),
      ),
    forgetEnded: (now: number) => sealer.evictKeys(now),
  };
}

function scene(keys = memoryKeyStore()) {
  const partitions = new TestPartitions();
  const open = () => sealerOver(keys.store, MAC_KEY, partitions);
  return { keys, open, partitions, sealer: open() };
}

describe("the sealer", () => {
  it("opens what it has sealed, up to 255 KB, in the same instance and in any other", async () => {
    const { sealer, open } = scene();
    await fc.assert(
      fc.asyncProperty(anyPayload, fc.string({ unit: "grapheme", minLength: 1 }), async (bytes, account) => {
        const identity = identityOf({ account });
        const sealed = await sealer.seal(identity, bytes);
        expect((await sealer.open(identity, sealed)).equals(bytes)).toBe(true);
        expect((await open().open(identity, sealed)).equals(bytes)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it("seals hundreds of events at once, of many sizes and accounts, each under its own key", async () => {
    const { sealer, open } = scene();
    const all = crowd(500).map((bytes, index) => ({
      bytes,
      identity: identityOf({ account: `customer-${index % 7}`, receivedAt: NOW + (index % 3) * DAY_MS }),
    }));
    const sealed = await Promise.all(all.map(({ identity, bytes }) => sealer.seal(identity, bytes)));
    const reader = open();
    for (const [index, { identity, bytes }] of all.entries()) {
      const opened = await reader.open(identity, sealed[index] as Buffer);
      expect(opened.equals(bytes), `event ${index}`).toBe(true);
    }
  });

  it("makes one secret per account and purpose, and one per partition, however many callers ask at once", async () => {
    const { keys, partitions, sealer } = scene();
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        sealer.seal(identityOf({ account: `customer-${index % 2}` }), payload(100, "json")),
      ),
    );
    const names = ["account/1-customer-0", "account/1-customer-1", `partition/${partitions.find(1, NOW).secret}`];
    expect([...keys.entries.keys()].toSorted()).toEqual(names.map(secretId).toSorted());
    expect(keys.creations()).toBe(3);
  });

  it("reads the secret of a new account from the key store only after it was created elsewhere", async () => {
    const { store } = memoryKeyStore();
    const reads: string[] = [];
    const read: KeyStore["read"] = (id) => {
      reads.push(id);
      return store.read(id);
    };
    const secrets = new Secrets({ ...store, read }, keysOf(KEY));
    const partitions = new TestPartitions();
    const bytes = payload(100, "json");
    const name = accountSecretName("new");
    const secret = await secrets.create(name);
    const seal = async (made: { readonly secret?: Buffer }): Promise<Buffer> => {
      const keys = accountKeys(secrets, partitions);
      const current = { keyId: "new", keyEpoch: keys.keyEpoch, ...made };
      const sealer = createSealer(secrets, { ...keys, current: () => current }, partitions, async () => [], MAC_KEY);
      const identity = identityOf();
      const { payload: sealed } = await sealer.seal(identity, bytes);
      return createSealer(secrets, keys, partitions, async () => [], MAC_KEY).open(identity, { keyId: "new" }, sealed);
    };
    expect(await seal({ secret })).toEqual(bytes);
    expect(reads).not.toContain(secretId(name));
    expect(await seal({})).toEqual(bytes);
    expect(reads).toContain(secretId(name));
  });

  it("seals equal bytes to different payloads, and the payloads reveal nothing of the bytes", async () => {
    const { sealer } = scene();
    const identity = identityOf();
    const bytes = Buffer.from("a very telling observation ".repeat(20));
    const sealed = await Promise.all(Array.from({ length: 600 }, () => sealer.seal(identity, bytes)));
    const nonces = sealed.map((one) => one.subarray(1, 13).toString("hex"));
    expect(new Set(nonces).size, "a nonce used twice under one key breaks GCM").toBe(600);
    expect(new Set(sealed.map((one) => one.subarray(13).toString("hex"))).size).toBe(600);
    expect(sealed[0]?.includes("telling")).toBe(false);
  });

  it("opens many payloads, reads each secret once, and leaves out payloads that were changed or whose secret was lost", async () => {
    const { keys, partitions, sealer } = scene();
    const identities = ["a", "b", "a", "a", "gone"].map((account) => identityOf({ account }));
    const sealed = await Promise.all(
      identities.map(async (identity) => ({ identity, payload: await sealer.seal(identity, payload(100, "json")) })),
    );
    const changed = sealed[3]?.payload ?? Buffer.alloc(0);
    changed[20] = (changed[20] ?? 0) ^ 1;
    keys.entries.delete(secretId("account/1-gone"));
    const read: string[] = [];
    const readToOpen: KeyStore["readToOpen"] = (ids) => {
      read.push(...ids);
      return keys.store.readToOpen(ids);
    };
    const other = sealerOver({ ...keys.store, readToOpen }, MAC_KEY, partitions);
    const lengths = (await other.openMany(sealed)).map((bytes) => bytes?.length);
    expect(lengths).toEqual([100, 100, 100, undefined, undefined]);
    expect(new Set(read).size).toBe(read.length);
    expect(read).toHaveLength(4);
  });

  it("throws Unavailable while the key store is not available, and continues afterwards", async () => {
    const keys = memoryKeyStore();
    let away = true;
    const store = {
      ...keys.store,
      read: (name: string) => (away ? Promise.reject(new Unavailable("away")) : keys.store.read(name)),
    };
    const sealer = sealerOver(store);
    await expect(sealer.seal(identityOf(), payload(10, "json"))).rejects.toBeInstanceOf(Unavailable);
    away = false;
    expect((await sealer.seal(identityOf(), payload(10, "json"))).length).toBeGreaterThan(29);
  });
});

describe("the secret of a partition", () => {
  const name = secretId(partitionSecretName(new TestPartitions().find(1, NOW).secret));

  it("that was lost is not created again under its name, by any instance", async () => {
    const { keys, partitions, sealer, open } = scene();
    await sealer.seal(identityOf(), payload(100, "json"));
    keys.entries.delete(name);
    const unaware: PartitionRegistry = {
      ensure: (purpose, at) => partitions.ensure(purpose, at),
      recordCreated: (secret) => partitions.recordCreated(secret),
      find: (purpose, at) => ({ ...partitions.find(purpose, at), wasCreated: false }),
    };
    const other = identityOf({ account: "customer-2" });
    for (const one of [sealer, open(), sealerOver(keys.store, MAC_KEY, partitions, unaware)]) {
      await expect(one.seal(other, payload(100, "json"))).rejects.toThrow(Unavailable);
    }
    expect(keys.entries.has(name)).toBe(false);
  });

  it("that was lost together with its record is replaced by another one for every account and server", async () => {
    const { keys, partitions, sealer, open } = scene();
    const servers = [sealer, open()];
    const identities = [identityOf(), identityOf({ account: "customer-2" })];
    const sealAll = () =>
      Promise.all(servers.flatMap((one) => identities.map(async (of) => ({ of, sealed: await one.seal(of, bytes) }))));
    const bytes = payload(100, "json");
    await sealAll();
    keys.entries.delete(name);
    partitions.failOver();
    await sealer.seal(identityOf({ account: "customer-3" }), bytes);
    for (const { of, sealed } of await sealAll()) expect(await open().open(of, sealed)).toHaveLength(100);
  });

  it("is read once for all accounts, until it is dropped from memory", async () => {
    const { keys, partitions, sealer } = scene();
    let reads = 0;
    const read: KeyStore["read"] = (id) => {
      if (id === name) reads++;
      return keys.store.read(id);
    };
    await sealer.seal(identityOf(), payload(100, "json"));
    const other = sealerOver({ ...keys.store, read }, MAC_KEY, partitions);
    const sealFirstOf = (account: string): Promise<Buffer> => other.seal(identityOf({ account }), payload(100, "json"));
    await Promise.all(["a", "b"].map(sealFirstOf));
    await sealFirstOf("c");
    expect(reads).toBe(1);
    other.forgetEnded(NOW);
    await sealFirstOf("d");
    expect(reads).toBe(2);
    keys.entries.delete(name);
    other.forgetEnded(NOW);
    await expect(sealFirstOf("e"), "a lost one is noticed").rejects.toThrow(Unavailable);
  });

  it("is recorded as created before anything is sealed under it, even if it already existed", async () => {
    const { keys, partitions, sealer } = scene();
    await sealer.seal(identityOf(), payload(100, "json"));
    expect(partitions.find(1, NOW).wasCreated).toBe(true);
    const restored = new TestPartitions();
    await sealerOver(keys.store, MAC_KEY, restored).seal(identityOf(), payload(100, "json"));
    expect(restored.find(1, NOW).wasCreated).toBe(true);
    restored.recordCreated = () => Promise.reject(new Unavailable("away"));
    const later = identityOf({ receivedAt: NOW + DAY_MS });
    const sealed = sealerOver(keys.store, MAC_KEY, restored).seal(later, payload(100, "json"));
    await expect(sealed).rejects.toThrow(Unavailable);
  });
});

describe("data keys in memory", () => {
  const partition = `1-${Math.floor(NOW / DAY_MS)}`;
  const end = (Math.floor(NOW / DAY_MS) + 1) * DAY_MS;

  it("open no event of a partition that has ended and lacks its secret", async () => {
    const { keys, sealer } = scene();
    const identity = identityOf();
    const sealed = await sealer.seal(identity, payload(100, "json"));
    keys.entries.delete(secretId(partitionSecretName(partition)));
    expect(await sealer.open(identity, sealed), "in memory while the partition takes events").toHaveLength(100);
    sealer.forgetEnded(end - 1);
    expect(await sealer.open(identity, sealed)).toHaveLength(100);
    sealer.forgetEnded(end);
    await expect(sealer.open(identity, sealed)).rejects.toMatchObject({ code: "keys-destroyed" });
  });

  it("remain for partitions that still receive events", async () => {
    const { keys, sealer } = scene();
    const next = identityOf({ receivedAt: end });
    await sealer.seal(identityOf(), payload(100, "json"));
    const sealed = await sealer.seal(next, payload(100, "json"));
    keys.entries.clear();
    sealer.forgetEnded(end);
    expect(await sealer.open(next, sealed)).toHaveLength(100);
  });
});

describe("a payload can't be opened", () => {
  it("after any single bit was changed", async () => {
    const { sealer } = scene();
    const identity = identityOf();
    const sealed = await sealer.seal(identity, payload(300, "json"));
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await expect(sealer.open(identity, changed), `bit ${bit}`).rejects.toMatchObject({ code: "payload-damaged" });
    }
  });

  it("after bytes were cut off at either end, or added", async () => {
    const { sealer } = scene();
    const identity = identityOf();
    const sealed = await sealer.seal(identity, payload(40, "json"));
    for (let length = 0; length < sealed.length; length++) {
      await expect(sealer.open(identity, sealed.subarray(0, length))).rejects.toMatchObject({
        code: "payload-damaged",
      });
      await expect(sealer.open(identity, sealed.subarray(sealed.length - length))).rejects.toMatchObject({
        code: "payload-damaged",
      });
    }
    const longer = Buffer.concat([sealed, Buffer.of(0)]);
    await expect(sealer.open(identity, longer)).rejects.toMatchObject({ code: "payload-damaged" });
  });

  const others: readonly (readonly [string, (identity: EventIdentity) => Partial<EventIdentity>])[] = [
    ["account", () => ({ account: "customer-2" })],
    ["event", () => ({ eventId: uuidv7(NOW) })],
    ["event of the same random part", ({ eventId }) => ({ eventId: `1${eventId.slice(1)}` })],
    ["schema version", () => ({ schemaVersion: 2 })],
    ["purpose", () => ({ purpose: 2 })],
    ["day", () => ({ receivedAt: NOW + DAY_MS })],
  ];
  it.each(others)("with the identity of another %s", async (_, change) => {
    const { sealer } = scene();
    const identity = identityOf();
    const other = { ...identity, ...change(identity) };
    const sealed = await sealer.seal(identity, payload(100, "json"));
    // The other event has its keys, too, so that missing keys are not the reason for the failure.
    await sealer.seal(other, payload(100, "json"));
    await expect(sealer.open(other, sealed)).rejects.toThrow(/not what was sealed/);
    expect(await sealer.open(identity, sealed)).toHaveLength(100);
  });

  const names = [accountSecretName(keyIdOf("customer-1", 1)), partitionSecretName(`1-${Math.floor(NOW / DAY_MS)}`)];
  it.each(names)("after the secret %s was destroyed, by a process without the key in memory", async (name) => {
    const { keys, sealer, open } = scene();
    const identity = identityOf();
    const sealed = await sealer.seal(identity, payload(100, "json"));
    expect(await open().open(identity, sealed)).toHaveLength(100);
    expect(keys.entries.delete(secretId(name))).toBe(true);
    await expect(open().open(identity, sealed)).rejects.toThrow(/keys of this event were destroyed or lost/);
    await expect(open().open(identity, sealed)).rejects.toMatchObject({ code: "keys-destroyed" });
    expect(keys.entries.has(secretId(name)), "opening never makes a secret").toBe(false);
  });

  it("under a new secret in place of the old one", async () => {
    const { keys, sealer, open } = scene();
    const identity = identityOf();
    const sealed = await sealer.seal(identity, payload(100, "json"));
    keys.entries.delete(secretId(accountSecretName(keyIdOf("customer-1", 1))));
    const later = open();
    await later.seal(identityOf(), payload(100, "json"));
    await expect(later.open(identity, sealed)).rejects.toMatchObject({ code: "payload-damaged" });
  });
});

describe("the MAC of a request", () => {
  const { sealer, open } = scene();
  const eventId = uuidv7(NOW);

  it("has 16 bytes, and every instance computes the same MAC for the same bytes and event", () => {
    const mac = sealer.requestMac(eventId, Buffer.from("body"));
    expect(mac).toHaveLength(16);
    expect(open().requestMac(eventId, Buffer.from("body"))).toEqual(mac);
    expect(sealer.requestMac(eventId, new Uint8Array(Buffer.from("body")))).toEqual(mac);
  });

  it("differs between two requests with different bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        const equal = Buffer.from(a).equals(b);
        expect(sealer.requestMac(eventId, a).equals(sealer.requestMac(eventId, b))).toBe(equal);
      }),
      { numRuns: 300 },
    );
    const body = randomBytes(300);
    const mac = sealer.requestMac(eventId, body);
    for (let bit = 0; bit < body.length * 8; bit++) {
      const changed = Buffer.from(body);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(sealer.requestMac(eventId, changed).equals(mac), `bit ${bit}`).toBe(false);
    }
    expect(sealer.requestMac(eventId, Buffer.concat([body, Buffer.of(0)])).equals(mac)).toBe(false);
    expect(sealer.requestMac(eventId, Buffer.alloc(0)).equals(mac)).toBe(false);
  });

  it("differs for another event", () => {
    const body = Buffer.from("body");
    const macs = Array.from({ length: 1_000 }, () => sealer.requestMac(uuidv7(NOW), body).toString("hex"));
    expect(new Set(macs).size).toBe(1_000);
    // The nonce contains the digits of the event's id from the lower part of the time on. The digits before them change
    // only once a minute.
    const mac = sealer.requestMac(eventId, body).toString("hex");
    for (let at = 9; at < eventId.length; at++) {
      if (eventId[at] === "-") continue;
      const other = eventId.slice(0, at) + (eventId[at] === "0" ? "1" : "0") + eventId.slice(at + 1);
      expect(sealer.requestMac(other, body).toString("hex"), `digit ${at}`).not.toBe(mac);
    }
  });

  it("differs for another installation secret", () => {
    const other = sealerOver(memoryKeyStore().store, createSecretKey(randomBytes(32)));
    const body = Buffer.from("body");
    expect(other.requestMac(eventId, body).equals(sealer.requestMac(eventId, body))).toBe(false);
  });
});
