import { describe, expect, it, test } from "vitest";
import { conclude, judgedProbes } from "../../evidence/check.ts";
import { caseOf, type ObservedText, readObserved } from "../../evidence/observed.ts";

const stock = readObserved("stock");
const compromised = readObserved("compromised");

/** Fields that must be false or absent on a stock device. */
const ALARM =
  /^(su|root|dangerous(App|Props)|suspicious.*Found|writable|injectedLib.*Found|hook.*Found|magi|frida.*Found$|zygisk|canOpen|symbolic|jailbreak|isEmulator|emulator(Fingerprint|Files)|testKeys)/;

function alarmsOf(text: ObservedText): readonly string[] {
  const subject = caseOf(text);
  const concluded = judgedProbes(subject).flatMap(([probe, own]) => Object.entries(conclude(subject, probe, own)));
  const alarms = concluded.filter(([field, value]) => ALARM.test(field) && value === true).map(([field]) => field);
  const { bootloaderLocked } = Object.fromEntries(concluded);
  return bootloaderLocked === false ? [...alarms, "bootloaderUnlocked"] : alarms;
}

test.each(stock)("$name: the stock device $of shows no unexpected finding", (text) => {
  expect(alarmsOf(text)).toEqual(text.shows ?? []);
});

test.each(compromised)("$name: the device $of has the expected findings $shows", (text) => {
  expect(text.shows).not.toHaveLength(0);
  expect(alarmsOf(text)).toEqual(expect.arrayContaining([...(text.shows ?? [])]));
});

describe("the texts of real devices", () => {
  const all = [...stock, ...compromised];

  it("include at least 40 of stock devices and 20 of compromised ones", () => {
    expect(stock.filter(({ shows }) => !shows).length).toBeGreaterThanOrEqual(40);
    expect(new Set(compromised.map(({ source }) => source)).size).toBeGreaterThanOrEqual(20);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  it("name their source, and contain no identifier of a device or an installation", () => {
    for (const { name, source, ...text } of all) {
      expect(source, name).toMatch(/^https:\/\//);
      expect(JSON.stringify(text), name).not.toMatch(
        /serial|\bimei|[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}|[\w+-]{20,}==|@[a-z]+\./i,
      );
    }
  });
});
