/** What every key store must do, whatever it lies on. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KeyStore } from "./key-store.ts";

export interface KeyStorePlace {
  /** Another instance over the same place, as another process would have it. */
  readonly open: () => Promise<KeyStore>;
  /** Every byte that lies there, as a thief would read it. */
  readonly spill: () => Promise<Buffer>;
  readonly remove: () => Promise<void>;
}

const NAMES = [
  "account/1/customer-1",
  "account/1/../../../etc/passwd",
  "account/1/a/b\\c",
  "account/1/.",
  "account/1/\u{1F600} é",
  `account/1/${"x".repeat(256)}`,
  `account/1/${"\u{1F600}".repeat(256)}`,
  "partition/0190f3a2-0000-7000-8000-000000000000",
  "'; drop table drs_keys.secret; --",
  " ",
];

export function describeKeyStore(what: string, setUp: () => Promise<KeyStorePlace>): void {
  describe(`the key store in ${what}`, () => {
    let place: KeyStorePlace;
    let store: KeyStore;

    beforeAll(async () => {
      place = await setUp();
      store = await place.open();
    });

    afterAll(async () => {
      await store?.close();
      await place?.remove();
    });

    it("knows nothing of what was never stored", async () => {
      expect(await store.read("absent")).toBeUndefined();
    });

    it.each(NAMES)("gives back the bytes under the name %j", async (name) => {
      const bytes = randomBytes(69);
      expect(await store.create(name, bytes)).toEqual(bytes);
      expect(await store.read(name)).toEqual(bytes);
    });

    it("keeps names apart that differ in case, width or trailing space", async () => {
      const names = ["n", "N", "n ", " n", "é", "e\u0301", "n/", "n/n"];
      for (const name of names) await store.create(name, Buffer.from(`of ${name}`));
      for (const name of names) expect((await store.read(name))?.toString()).toBe(`of ${name}`);
    });

    it("keeps every byte", async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      await store.create("bytes", bytes);
      expect(await store.read("bytes")).toEqual(bytes);
    });

    it("never replaces a secret: who comes second is given what stands", async () => {
      const first = randomBytes(69);
      await store.create("standing", first);
      expect(await store.create("standing", randomBytes(69))).toEqual(first);
      expect(await store.read("standing")).toEqual(first);
    });

    it("shows one instance what another has stored", async () => {
      const other = await place.open();
      expect(await other.read("shared")).toBeUndefined();
      const bytes = randomBytes(69);
      await store.create("shared", bytes);
      expect(await other.read("shared")).toEqual(bytes);
      await other.close();
    });

    it("lets one of many win for all, when instances create at once", async () => {
      const others = await Promise.all(Array.from({ length: 3 }, () => place.open()));
      for (let round = 0; round < 10; round++) {
        const name = `race-${round}`;
        const offers = [store, ...others].flatMap((instance) =>
          Array.from({ length: 4 }, () => ({ instance, bytes: randomBytes(69) })),
        );
        const given = await Promise.all(offers.map(({ instance, bytes }) => instance.create(name, bytes)));
        const standing = await store.read(name);
        expect(new Set(given.map(String)).size).toBe(1);
        expect(given[0]).toEqual(standing);
        expect(offers.some(({ bytes }) => standing && bytes.equals(standing))).toBe(true);
      }
      await Promise.all(others.map((instance) => instance.close()));
    });

    it("may be opened by many at once where nothing is yet", async () => {
      const fresh = await setUp();
      const instances = await Promise.all(Array.from({ length: 6 }, () => fresh.open()));
      const given = await Promise.all(instances.map((instance) => instance.create("first", randomBytes(69))));
      expect(new Set(given.map(String)).size).toBe(1);
      await Promise.all(instances.map((instance) => instance.close()));
      await fresh.remove();
    });

    it("says in a line where it is, without a password", () => {
      expect(store.description).toMatch(/^[^\n]+$/);
      expect(store.description).not.toMatch(/:\/\//);
    });

    it("keeps what it was given, and no more than that", async () => {
      await store.create("spilt", Buffer.from("WRAPPED-AND-NOTHING-ELSE"));
      expect((await place.spill()).includes("WRAPPED-AND-NOTHING-ELSE")).toBe(true);
    });
  });
}
