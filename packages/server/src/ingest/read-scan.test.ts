import { adoptFields, NOTHING_ADOPTED } from "@device-risk-signals/contract/catalog/adopted";
import { openScanner } from "@device-risk-signals/scanner";
import { expect, it } from "vitest";
import { fullEvent } from "../../../../bench/src/full-event.ts";
import { readScan } from "./read-scan.ts";

it("leaves an event that departs in an adopted field to the slow path", () => {
  const adoption = adoptFields([["fonts", "fontsDigest"]]);
  const probes = { fonts: { status: "success", data: { fontsDigest: 7 } } };
  const observations = { ...fullEvent(1, new Date(0)), probes };
  const request = { action_id: "a", action_type: "payment", sdk_version: "1.0.0", platform: "ios", observations };
  const body = Buffer.from(JSON.stringify(request));
  const scan = openScanner().scan(body);
  if (!scan || !adoption.ok) throw new Error("no scan");
  expect(readScan(scan, body, NOTHING_ADOPTED)?.probes.departures()).toEqual([
    { kind: "wrong-type", path: ["fonts", "fontsDigest"], found: "number" },
  ]);
  expect(readScan(scan, body, adoption.adopted)).toBeUndefined();
});
