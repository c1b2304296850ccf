import { expect, it } from "vitest";
import { INGEST, ingested } from "../../audit/log/log.fixture.ts";
import { Lane } from "./lane.ts";
import { decodeRecord, type SignedRecord } from "./record.ts";

const lane = new Lane(INGEST);
const recordOf = (signed: SignedRecord | undefined): ReturnType<typeof decodeRecord> =>
  signed && decodeRecord(signed.bytes);

it("numbers are consecutive, and each entry has the MAC of the previous entry", () => {
  const [one, two] = lane.sign([ingested(1), ingested(2)]);
  lane.acknowledge();
  const [three] = lane.sign([ingested(3)]);
  expect(recordOf(one)).toMatchObject({ surface: "ingest", place: { number: 1 } });
  expect(recordOf(one)?.previous).toBeUndefined();
  expect(recordOf(two)?.previous).toEqual({ ...recordOf(one)?.place, mac: one?.mac });
  expect(recordOf(three)?.previous).toEqual({ ...recordOf(two)?.place, mac: two?.mac });
});

it("a transaction that was rolled back leaves no gap", () => {
  const [lost] = lane.sign([ingested(4)]);
  const [again] = lane.sign([ingested(5)]);
  expect(recordOf(again)?.place).toEqual(recordOf(lost)?.place);
  lane.acknowledge();
});

it("after a commit of unknown outcome, a new lane continues from the last known entry", () => {
  const [known] = lane.sign([ingested(6)]);
  lane.acknowledge();
  lane.sign([ingested(7)]);
  lane.renew();
  const [first] = lane.sign([ingested(8)]);
  expect(recordOf(first)?.place?.lane).not.toBe(recordOf(known)?.place?.lane);
  expect(recordOf(first)).toMatchObject({ place: { number: 1 } });
  expect(recordOf(first)?.previous).toEqual({ ...recordOf(known)?.place, mac: known?.mac });
});
