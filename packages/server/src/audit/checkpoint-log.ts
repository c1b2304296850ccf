import type { CheckpointSink } from "./checkpoint-sink.ts";

/** The hour of a time, such as `2027-01-31T08`. */
export const hourOf = (at: Date): string => at.toISOString().slice(0, 13);

/** Reports the first checkpoint of each hour to a log that is kept elsewhere. This sink has no checkpoint to read. */
export function checkpointLog(report: (note: string) => void): CheckpointSink {
  let reported = "";
  return {
    name: "the log",
    readCheckpoint: async () => undefined,
    async writeCheckpoint(note, at) {
      if (hourOf(at) === reported) return;
      reported = hourOf(at);
      report(note);
    },
  };
}
