/** Tests that every key store must pass, on any storage. */
import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KeyStore } from "./key-store.ts";

export interface KeyStorePlace {
  /** Opens another instance on the same storage, as another process would. */
  readonly open: () => Promise<KeyStore>;
  /** All bytes of the storage, as a person who copied it could read them. */
  readonly readAllBytes: () => Promise<Buffer>;
  readonly remove: () => Promise<void>;
}

/** The id of a secret as `Secrets` computes it. */
const idOf = (name: string): string => createHash("sha256").update(name).digest("hex");

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

    it("returns nothing for an id under which nothing was stored", async () => {
      expect(await store.read(idOf("absent"))).toBeUndefined();
    });

    it("returns the bytes under their id and no other bytes", async () => {
      const bytes = randomBytes(69);
      expect(await store.create(idOf("one"), bytes)).toEqual(bytes);
      expect(await store.read(idOf("one"))).toEqual(bytes);
      for (const other of ["../../etc/passwd", "", `${idOf("one")}/`, idOf("one").toUpperCase()]) {
        await expect(store.create(other, bytes), other).rejects.toThrow();
      }
    });

    it("reads many secrets to open, and leaves out absent ones", async () => {
      const ids = Array.from({ length: 3 }, (_, index) => idOf(`many-${index}`));
      const wrapped = ids.map(() => randomBytes(69));
      for (const [index, id] of ids.entries()) await store.create(id, wrapped[index] as Buffer);
      await store.destroy(ids[1] as string);
      const found = await store.readToOpen([...ids, idOf("absent")]);
      expect(new Map(found)).toEqual(
        new Map([
          [ids[0], wrapped[0]],
          [ids[2], wrapped[2]],
        ]),
      );
      expect((await store.readToOpen([])).size).toBe(0);
    });

    it("reports the ids that it lacks, and no other ids", async () => {
      await store.create(idOf("there"), randomBytes(69));
      expect(await store.findMissing([idOf("there"), idOf("not there")])).toEqual([idOf("not there")]);
      expect(await store.findMissing([])).toEqual([]);
    });

    it("lists its ids, each once", async () => {
      const fresh = await setUp();
      const one = await fresh.open();
      const ids = Array.from({ length: 40 }, (_, index) => idOf(`listed ${index}`));
      for (const id of ids) await one.create(id, randomBytes(69));
      const listed = (await Array.fromAsync(one.ids())).flat();
      expect(listed.toSorted()).toEqual(ids.toSorted());
      await one.close();
      await fresh.remove();
    });

    it("replaces the stored bytes only if they are the expected ones", async () => {
      const [first, second] = [randomBytes(69), randomBytes(69)];
      const [one, changed, nowhere] = ["replaced", "changed", "nowhere"].map(idOf) as [string, string, string];
      await store.create(one, first);
      await store.create(changed, second);
      const wrappings = [one, changed, nowhere].map((id) => ({ id, existing: first, wrapped: second }));
      expect(await store.replace(wrappings)).toBe(1);
      expect([await store.read(one), await store.read(changed), await store.read(nowhere)]).toEqual([
        second,
        second,
        undefined,
      ]);
      const back = { id: one, existing: first, wrapped: first };
      expect([await store.replace([back]), await store.replace([])]).toEqual([0, 0]);
      expect(await store.read(one)).toEqual(second);
    });

    it("destroys a stored secret, and accepts a missing one", async () => {
      await store.create(idOf("destroyed"), randomBytes(69));
      for (let round = 0; round < 2; round++) {
        await store.destroy(idOf("destroyed"));
        expect(await store.read(idOf("destroyed"))).toBeUndefined();
      }
    });

    it("records each secret that is destroyed on purpose, and none that is discarded", async () => {
      const [destroyed, discarded, absent] = ["destroyed twice", "discarded", "never stored"].map(idOf) as [
        string,
        string,
        string,
      ];
      for (const id of [destroyed, discarded]) await store.create(id, randomBytes(69));
      expect(await store.findDestroyed([destroyed, discarded, absent])).toEqual([]);
      for (let round = 0; round < 2; round++) {
        await store.destroy(destroyed);
        await store.discard(discarded);
      }
      await store.destroy(absent);
      expect(await store.findMissing([destroyed, discarded, absent])).toEqual([destroyed, discarded, absent]);
      const other = await place.open();
      const found = await other.findDestroyed([destroyed, discarded, absent]);
      expect(found.toSorted()).toEqual([destroyed, absent].toSorted());
      expect((await Array.fromAsync(other.ids())).flat()).not.toContain(destroyed);
      await other.close();
    });

    it("returns the watermark that was written last, in every instance", async () => {
      expect(await store.readWatermark("mark")).toBeUndefined();
      for (const mark of ["1", "2"]) {
        await store.writeWatermark("mark", mark);
        expect(await store.readWatermark("mark")).toBe(mark);
      }
      const other = await place.open();
      expect(await other.readWatermark("mark")).toBe("2");
      await other.writeWatermark("journal-head", "3 abc");
      expect([await store.readWatermark("mark"), await store.readWatermark("journal-head")]).toEqual(["2", "3 abc"]);
      await other.close();
    });

    it("lets writers of one watermark write at the same time", async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => place.open()));
      for (let round = 0; round < 10; round++) {
        await Promise.all(stores.map((one) => one.writeWatermark("mark", "3")));
      }
      expect(await store.readWatermark("mark")).toBe("3");
      await Promise.all(stores.map((one) => one.close()));
    });

    it("returns every value of a byte unchanged", async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      await store.create(idOf("bytes"), bytes);
      expect(await store.read(idOf("bytes"))).toEqual(bytes);
    });

    it("never replaces a secret by a new one, and returns the stored secret to the second writer", async () => {
      const first = randomBytes(69);
      await store.create(idOf("stored"), first);
      expect(await store.create(idOf("stored"), randomBytes(69))).toEqual(first);
      expect(await store.read(idOf("stored"))).toEqual(first);
    });

    it("returns to one instance the secrets that another instance has stored", async () => {
      const other = await place.open();
      expect(await other.read(idOf("shared"))).toBeUndefined();
      const bytes = randomBytes(69);
      await store.create(idOf("shared"), bytes);
      expect(await other.read(idOf("shared"))).toEqual(bytes);
      await other.close();
    });

    it("stores one secret if many instances create it at once", async () => {
      const otherInstances = await Promise.all(Array.from({ length: 3 }, () => place.open()));
      for (let round = 0; round < 10; round++) {
        const name = idOf(`race-${round}`);
        const offers = [store, ...otherInstances].flatMap((instance) =>
          Array.from({ length: 4 }, () => ({ instance, bytes: randomBytes(69) })),
        );
        const given = await Promise.all(offers.map(({ instance, bytes }) => instance.create(name, bytes)));
        const stored = await store.read(name);
        expect(new Set(given.map(String)).size).toBe(1);
        expect(given[0]).toEqual(stored);
        expect(offers.some(({ bytes }) => stored && bytes.equals(stored))).toBe(true);
      }
      await Promise.all(otherInstances.map((instance) => instance.close()));
    });

    it("stores many secrets that are created at the same time, each under its id, although one id is invalid", async () => {
      const secrets = Array.from({ length: 150 }, (_, index) => ({ id: idOf(`new ${index}`), bytes: randomBytes(69) }));
      const earlier = randomBytes(69);
      await store.create(idOf("new 7"), earlier);
      const made = secrets.map(({ id, bytes }) => store.create(id, bytes));
      await expect(store.create("no id", earlier)).rejects.toThrow();
      const expected = secrets.map(({ id, bytes }) => (id === idOf("new 7") ? earlier : bytes));
      expect(await Promise.all(made)).toEqual(expected);
      const found = await store.readToOpen(secrets.map(({ id }) => id));
      expect(secrets.map(({ id }) => found.get(id))).toEqual(expected);
    });

    it("can be opened by many processes at once when it does not exist yet", async () => {
      const fresh = await setUp();
      const instances = await Promise.all(Array.from({ length: 6 }, () => fresh.open()));
      const given = await Promise.all(instances.map((instance) => instance.create(idOf("first"), randomBytes(69))));
      expect(new Set(given.map(String)).size).toBe(1);
      await Promise.all(instances.map((instance) => instance.close()));
      await fresh.remove();
    });

    it("describes its place in one line, without a password", () => {
      expect(store.description).toMatch(/^[^\n]+$/);
      expect(store.description).not.toMatch(/:\/\//);
    });

    it("stores the wrapped bytes as they are, so that a search in its storage finds what was stored", async () => {
      await store.create(idOf("spilt"), Buffer.from("WRAPPED-AND-NOTHING-ELSE"));
      expect((await place.readAllBytes()).includes("WRAPPED-AND-NOTHING-ELSE")).toBe(true);
    });
  });
}
