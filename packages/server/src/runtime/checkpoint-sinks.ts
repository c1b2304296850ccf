/** Places outside the database that keep checkpoints of the audit log. */
import { checkpointDirectory } from "../audit/checkpoint-directory.ts";
import type { CheckpointSink } from "../audit/checkpoint-sink.ts";
import type { Dependency } from "../base/dependencies/dependencies.ts";
import { boundedBy } from "../base/dependencies/file-calls.ts";
import type { ErasureJournal } from "../lifecycle/journal/journal.ts";
import type { OpenConnection } from "./connect.ts";

/** A process must call it only once, because the result counts the calls to a directory that hang. */
export function checkpointSinks(
  { config, dependencies }: Pick<OpenConnection, "config" | "dependencies">,
  journal: ErasureJournal | undefined,
): readonly CheckpointSink[] {
  const { checkpointDirectory: directory } = config.audit;
  return [
    ...(journal
      ? [
          {
            name: "the erasure journal",
            readCheckpoint: () => journal.readCheckpoint(),
            writeCheckpoint: (note: string, at: Date) => journal.writeCheckpoint(note, at),
          },
        ]
      : []),
    ...(directory === undefined
      ? []
      : [
          sinkWithDeadline(
            checkpointDirectory("the directory of DRS_AUDIT_CHECKPOINTS", directory),
            dependencies.get("audit_checkpoints"),
          ),
        ]),
  ];
}

/**
 * Adds a deadline, because a directory that hangs must not keep the lock of the log, for which other servers and
 * commands wait.
 */
function sinkWithDeadline(sink: CheckpointSink, dependency: Dependency): CheckpointSink {
  const bounded = boundedBy(dependency);
  const { requireWritable } = sink;
  return {
    name: sink.name,
    readCheckpoint: () => bounded(() => sink.readCheckpoint()),
    ...(requireWritable && { requireWritable: () => bounded(requireWritable) }),
    writeCheckpoint: (note, at) => bounded(() => sink.writeCheckpoint(note, at)),
  };
}
