import { expect, it } from "vitest";
import { checkpointLog } from "./checkpoint-log.ts";
import { LOG_KEY, logKeyOf, logOf, signedEntries } from "./log/log.fixture.ts";
import { askSink, stateOfSink } from "./sink-states.ts";

const [first = "", second = ""] = logOf(signedEntries(9), [4, 9]).notes;
const [foreign = ""] = logOf(signedEntries(4), [4], logKeyOf("another")).notes;

const stateOf = async (answer: Promise<string | undefined>, latest?: string): Promise<object> => {
  const sink = { name: "a sink", readCheckpoint: () => answer, writeCheckpoint: async () => {} };
  return stateOfSink(await askSink(sink), LOG_KEY, latest);
};

it("the state of a sink shows whether it is away or behind", async () => {
  const name = "a sink";
  expect(await stateOf(Promise.resolve(second), second)).toEqual({ name, state: "current", size: 9 });
  expect(await stateOf(Promise.resolve(first), second)).toEqual({ name, state: "behind", size: 4 });
  expect(await stateOf(Promise.resolve(undefined), second)).toEqual({ name, state: "behind", size: 0 });
  expect(await stateOf(Promise.resolve(undefined))).toEqual({ name, state: "current", size: 0 });
  expect(await stateOf(Promise.resolve(second), first)).toEqual({ name, state: "different", size: 9 });
  expect(await stateOf(Promise.resolve(foreign), second)).toEqual({ name, state: "different", size: 0 });
  expect(await stateOf(Promise.reject(new Error("away")), second)).toEqual({ name, state: "away", size: 0 });
});

it("the log has the first checkpoint of each hour", async () => {
  const reported: string[] = [];
  const log = checkpointLog((note) => reported.push(note));
  for (const at of ["T08:00:01Z", "T08:59:59Z", "T09:00:00Z"]) {
    await log.writeCheckpoint(`signed at ${at}`, new Date(`2027-01-31${at}`));
  }
  expect(reported).toEqual(["signed at T08:00:01Z", "signed at T09:00:00Z"]);
  expect(await log.readCheckpoint()).toBeUndefined();
});
