import { expect, it } from "vitest";
import { parseEvent } from "./parse-event.ts";

it("a name with an escape is not replaced by a name of an event that was parsed before", () => {
  const eventOf = (data: string): Buffer =>
    Buffer.from(`{"probes":{"os_integrity":{"status":"success","data":{${data}}}}}`);
  for (let round = 0; round < 100; round++) parseEvent("android", eventOf(String.raw`"y":1,"\\":2`));
  expect(parseEvent("android", eventOf(String.raw`"y":1,"\u0061":2`))).toEqual({
    platform: "android",
    probes: { os_integrity: { status: "success", data: { y: 1, a: 2 } } },
  });
});

it.each(["", "[]", "null", "{}", `{"probes":null}`, `{"probes":{"\\u0061":1,"a":2}}`, `{"\\u0061":`])(
  "a text that is no event has none: %j",
  (text) => {
    expect(parseEvent("ios", Buffer.from(text))).toBeUndefined();
  },
);
