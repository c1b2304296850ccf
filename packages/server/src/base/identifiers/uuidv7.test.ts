import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUuid, uuidv7 } from "./uuidv7.ts";

const NOW = Date.parse("2026-03-01T12:00:00.123Z");

describe("a UUID of version 7 (RFC 9562 §5.7)", () => {
  it("contains its version, its variant and the given millisecond", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (at) => {
        const id = uuidv7(at);
        expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
        expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(at);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is never generated twice, even across the end of the random pool", () => {
    const ids = Array.from({ length: 50_000 }, () => uuidv7(NOW));
    expect(new Set(ids).size).toBe(50_000);
    expect(new Set(ids.map((id) => id.slice(-12))).size, "the last 48 bits hardly ever repeat").toBeGreaterThan(49_990);
  });

  it("is random in each of the 74 bits that hold neither time nor version nor variant", () => {
    const count = 4_000;
    const ones = Array.from({ length: 128 }, () => 0);
    for (let made = 0; made < count; made++) {
      const bits = BigInt(`0x${uuidv7(NOW).replaceAll("-", "")}`);
      for (let bit = 0; bit < 128; bit++) if ((bits >> BigInt(127 - bit)) & 1n) ones[bit] = (ones[bit] ?? 0) + 1;
    }
    const fixed = (bit: number): boolean => bit < 52 || bit === 64 || bit === 65;
    for (const [bit, seen] of ones.entries()) {
      if (fixed(bit)) expect([0, count], `bit ${bit}`).toContain(seen);
      // The bound is eight standard deviations.
      else expect(Math.abs(seen - count / 2), `bit ${bit}`).toBeLessThan(4 * Math.sqrt(count));
    }
  });

  it("does not reuse random bits of the previous UUID", () => {
    const ids = Array.from({ length: 2_000 }, () => uuidv7(NOW));
    const alike = ids.filter((id, index) => id[15] === ids[index - 1]?.at(-1));
    expect(alike.length, "one in 16 by chance").toBeLessThan(250);
  });

  it("sorts by time", () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => uuidv7(NOW + index));
    expect(ids.toSorted()).toEqual(ids);
  });
});

it("a UUID is recognised in upper and lower case, but not with other text around it", () => {
  const id = uuidv7(NOW);
  expect([id, id.toUpperCase()].map(isUuid)).toEqual([true, true]);
  for (const other of [
    "",
    "x",
    id.slice(1),
    `${id}0`,
    id.replaceAll("-", ""),
    `${id}\n`,
    ` ${id}`,
    id.replace(/.$/, "g"),
  ]) {
    expect(isUuid(other), other).toBe(false);
  }
});
