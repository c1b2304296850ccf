import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDateTime } from "./timestamp.ts";

const instant = (iso: string, micros = 0) => ({ epochMs: Date.parse(iso), micros });

describe("a date-time of RFC 3339", () => {
  it.each([
    ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000Z"],
    ["2026-03-01t12:00:00z", "2026-03-01T12:00:00.000Z"],
    ["2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00.000Z"],
    ["2026-03-01T12:00:00-00:00", "2026-03-01T12:00:00.000Z"],
    ["2026-03-01T01:30:00+05:45", "2026-02-28T19:45:00.000Z"],
    ["2026-12-31T20:00:00-08:00", "2027-01-01T04:00:00.000Z"],
    ["2026-03-01T00:00:00+23:59", "2026-02-28T00:01:00.000Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
    ["0000-02-29T00:00:00Z", "0000-02-29T00:00:00.000Z"],
    ["0099-12-31T23:59:59Z", "0099-12-31T23:59:59.000Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"],
    ["1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000Z"],
  ])("%s is read as %s", (text, iso) => {
    expect(parseDateTime(text)).toEqual(instant(iso));
  });

  it.each([
    ["1", 100, 0],
    ["12", 120, 0],
    ["123", 123, 0],
    ["1234", 123, 400],
    ["12345", 123, 450],
    ["123456", 123, 456],
    ["1234569", 123, 456],
    ["12345699", 123, 456],
    ["123456999", 123, 456],
    ["1234569999", 123, 456],
    ["12345699999", 123, 456],
    ["999999999999", 999, 999],
  ])("is truncated to microseconds: the fraction .%s", (fraction, ms, micros) => {
    expect(parseDateTime(`2026-03-01T12:00:00.${fraction}Z`)).toEqual({
      epochMs: Date.parse("2026-03-01T12:00:00Z") + ms,
      micros,
    });
  });

  it("is truncated to microseconds towards the past, even before 1970", () => {
    expect(parseDateTime("1969-12-31T23:59:59.9999999Z")).toEqual({ epochMs: -1, micros: 999 });
  });

  it("that Date prints is read as the same instant", () => {
    const years0000To9999 = fc.date({
      min: new Date("0000-01-01T00:00:00.000Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(years0000To9999, (date) => {
        expect(parseDateTime(date.toISOString())).toEqual({ epochMs: date.getTime(), micros: 0 });
      }),
    );
  });
});

describe("a leap second is read", () => {
  it.each([
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["2016-12-31T18:59:60-05:00", "2017-01-01T00:00:00.000Z"],
    ["2017-01-01T05:29:60+05:30", "2017-01-01T00:00:00.000Z"],
    ["1960-12-31T23:59:60Z", "1961-01-01T00:00:00.000Z"],
    ["2016-12-31T23:59:60.25Z", "2017-01-01T00:00:00.250Z"],
  ])("as the next second: %s", (text, iso) => {
    expect(parseDateTime(text)).toEqual(instant(iso));
  });

  it.each([
    "2016-12-31T23:58:60Z",
    "2016-12-31T22:59:60Z",
    "2016-12-31T23:59:60-05:00",
    "2016-12-31T23:59:60+00:01",
    "2016-12-31T23:59:61Z",
  ])("only where one can be: %s is no date-time", (text) => {
    expect(parseDateTime(text)).toBeUndefined();
  });
});

describe("a text that is no date-time", () => {
  it.each([
    ["30 February", "2024-02-30T00:00:00Z"],
    ["29 February of a common year", "2026-02-29T00:00:00Z"],
    ["29 February 1900", "1900-02-29T00:00:00Z"],
    ["31 April", "2026-04-31T00:00:00Z"],
    ["day 0", "2026-03-00T00:00:00Z"],
    ["day 32", "2026-03-32T00:00:00Z"],
    ["month 0", "2026-00-01T00:00:00Z"],
    ["month 13", "2026-13-01T00:00:00Z"],
    ["hour 24", "2026-03-01T24:00:00Z"],
    ["minute 60", "2026-03-01T12:60:00Z"],
    ["offset hour 24", "2026-03-01T12:00:00+24:00"],
    ["offset minute 60", "2026-03-01T12:00:00+01:60"],
    ["no offset", "2026-03-01T12:00:00"],
    ["an offset without its colon", "2026-03-01T12:00:00+0100"],
    ["an offset without minutes", "2026-03-01T12:00:00+01"],
    ["two offsets", "2026-03-01T12:00:00Z+01:00"],
    ["a space for the T", "2026-03-01 12:00:00Z"],
    ["no seconds", "2026-03-01T12:00Z"],
    ["no time", "2026-03-01"],
    ["the basic format", "20260301T120000Z"],
    ["an empty fraction", "2026-03-01T12:00:00.Z"],
    ["a comma before the fraction", "2026-03-01T12:00:00,5Z"],
    ["a year of five digits", "12026-03-01T12:00:00Z"],
    ["a signed year", "+002026-03-01T12:00:00Z"],
    ["a month of one digit", "2026-3-01T12:00:00Z"],
    ["a newline behind it", "2026-03-01T12:00:00Z\n"],
    ["text behind it", "2026-03-01T12:00:00Z UTC"],
    ["a space before it", " 2026-03-01T12:00:00Z"],
    ["Arabic-Indic digits", "٢٠٢٦-03-01T12:00:00Z"],
    ["a fullwidth digit in the fraction", "2026-03-01T12:00:00.５Z"],
    ["a minus sign for the hyphen", "2026-03-01T12:00:00\u{2212}01:00"],
    ["the empty text", ""],
  ])("is rejected: %s", (_, text) => {
    expect(parseDateTime(text)).toBeUndefined();
  });
});
