import { expect, it } from "vitest";
import { time } from "./options.ts";

const now = Date.parse("2027-03-01T09:30:00.250Z");
const read = (text: string): string => new Date(time({ now: () => now })(text)).toISOString();

it.each([
  ["2027-01-31", "2027-01-31T00:00:00.000Z"],
  ["2027-01-31T08:00:00Z", "2027-01-31T08:00:00.000Z"],
  ["2027-01-31T08:00:00+02:00", "2027-01-31T06:00:00.000Z"],
  ["today", "2027-03-01T00:00:00.000Z"],
  ["yesterday", "2027-02-28T00:00:00.000Z"],
  ["-2d", "2027-02-27T09:30:00.250Z"],
  ["-90m", "2027-03-01T08:00:00.250Z"],
  ["-36500d", "1970-01-01T00:00:00.000Z"],
])("the time %s is read as %s", (text, at) => {
  expect(read(text)).toBe(at);
});

it.each(["", "2027-02-30", "2d", "-2", "-2w", "--2d", "-", "tomorrow", "-99999999d", "Yesterday", "2027"])(
  "the time '%s' is refused",
  (text) => {
    expect(() => read(text)).toThrow(
      "It must be of the form 2027-01-31, 2027-01-31T08:00:00Z, -2d, today or yesterday.",
    );
  },
);
