import { category, feature, field, whenObserved } from "@device-risk-signals/features";

const UTC = /^(Etc\/)?(UTC|UCT|Universal|Zulu)$/;

export const timeZoneOffset = feature({
  id: "time_zone_offset",
  version: 1,
  owner: "fraud team",
  meaning: "Whether the offset of local time is possible for a time zone and, if the zone is UTC, whether it is 0",
  falseReadings: [
    "Servers, test devices and some emulators run in UTC",
    "A rule of a zone that changed lately may be missing on the device",
  ],
  purposes: ["payments"],
  inputs: {
    zone: field("locale.timezoneId"),
    offset: field("locale.timezoneOffsetMinutes"),
  },
  output: category(["plausible", "utc", "contradicts-utc", "impossible"]),
  compute: ({ zone, offset }) =>
    whenObserved([zone, offset], (id, minutes) => {
      if (minutes < -720 || minutes > 840 || minutes % 15 !== 0) return "impossible";
      if (!UTC.test(id)) return "plausible";
      return minutes === 0 ? "utc" : "contradicts-utc";
    }),
  fixtures: "./time-zone-offset.fixtures.json",
});
