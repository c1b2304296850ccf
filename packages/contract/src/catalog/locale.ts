import { boolean, number, type Probe, string, strings } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";
import { CURRENCY, LANGUAGE, LANGUAGE_TAG, REGION, TIME_ZONE } from "./forms.ts";

export const locale: Probe = {
  id: "locale",
  title: "Locale",
  meaning:
    "Language, region, time zone and formats the person chose. A choice, not a place: it does not show where the device is.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: DIAGNOSTICS,
  fields: {
    language: string("Language code of the current locale.", { sensitivity: "medium", form: LANGUAGE }),
    languages: strings("Preferred languages, the first choice first.", { sensitivity: "medium", form: LANGUAGE_TAG }),
    keyboardLanguages: strings("Languages of the enabled keyboards (InputMethodManager subtypes); not what is typed.", {
      on: "android",
      sensitivity: "medium",
      form: LANGUAGE_TAG,
    }),
    country: string("Region code of the current locale; a setting, not a position.", {
      sensitivity: "medium",
      form: REGION,
    }),
    timezoneId: string("Name of the device's time zone in the IANA form, such as Europe/Paris.", {
      sensitivity: "medium",
      form: TIME_ZONE,
    }),
    timezoneOffsetMinutes: number(
      "minutes",
      "Offset of local time from UTC now, daylight saving included; positive east of Greenwich.",
      { sensitivity: "medium", range: { min: -720, max: 840, integer: true } },
    ),
    uses24HourClock: boolean("Times are shown by 24 hours; false means by 12 hours.", { sensitivity: "medium" }),
    calendar: string("Calendar in use, such as `gregorian` or `buddhist` (NSCalendar identifier).", {
      on: "ios",
      sensitivity: "medium",
      raw: true,
    }),
    firstDayOfWeek: number("index", "Day on which a week starts: 1 is Sunday, 7 is Saturday.", {
      sensitivity: "medium",
      range: { min: 1, max: 7, integer: true },
    }),
    currencyCode: string("ISO 4217 code of the locale's currency.", { sensitivity: "medium", form: CURRENCY }),
    decimalSeparator: string("Sign between whole number and fraction in the locale's number format.", {
      sensitivity: "medium",
      raw: true,
    }),
    groupingSeparator: string("Sign between groups of digits in the locale's number format.", {
      sensitivity: "medium",
      raw: true,
    }),
    measurementSystem: string("Measurement system of the locale (NSLocale), such as metric.", {
      on: "ios",
      sensitivity: "medium",
      values: ["metric", "us", "uk"],
    }),
  },
};
