import { Type } from "typebox";
import type { Route } from "../route.ts";
import { count, nullable, object, shape, shownText, time } from "../schemas.ts";

const TAG = "Health";
const read = { method: "GET", tag: TAG, permission: "health.read", access: "read" } as const;

export const HEALTH_ROUTES = {
  readHealth: {
    ...read,
    path: "/health",
    summary: "What the server needs, whether it has it, and what is overdue",
    operation: "health.read",
    answer: object({
      findings: Type.Array(
        shape("HealthFinding", {
          what: shownText("What was examined."),
          ok: Type.Boolean({ description: "False: something has to be done now." }),
          severity: Type.Optional(
            Type.Enum(["advice", "warning"], { description: "Of a finding that is no failure." }),
          ),
          detail: shownText(),
          took_ms: Type.Optional(count("Milliseconds until the dependency answered, where one was asked.")),
        }),
      ),
    }),
  },
  readCapacity: {
    ...read,
    path: "/capacity",
    summary: "Disk, partitions and locks, and how long they are sufficient",
    operation: "capacity.read",
    answer: object({
      disk: object({
        free_bytes: nullable(
          count(
            "Embedded database: free on its disk. External: `DRS_DATABASE_DISK_BYTES` without the database and `max_wal_size`; null if the setting is absent.",
          ),
        ),
        database_bytes: count("Size of the database."),
        events_per_day: count("Mean of the last seven days."),
        bytes_per_day: count("What is stored a day, at the rate of the last seven days."),
        days: nullable(
          Type.Number({
            minimum: 0,
            description:
              "Until the disk is full at this rate; null if expiry keeps it from filling, or if the free bytes are not known.",
          }),
        ),
      }),
      partitions: object({
        partitions: count("Partitions of events."),
        missing: Type.Array(
          object({ purpose: shownText("Purpose, by its id."), from: time("Start of the first missing partition.") }),
          { description: "Purposes whose partitions were not made in advance." },
        ),
        overdue: count("Expired partitions of events and feature values that are not dropped."),
      }),
      locks: object({
        needed: count("Locks of a statement over all partitions."),
        available: count("Locks that fit into the lock table of the cluster."),
        max_locks_per_transaction: count("Least value of this setting with which they fit."),
      }),
    }),
  },
  readConfiguration: {
    ...read,
    path: "/configuration",
    summary: "The effective configuration, secrets masked",
    operation: "configuration.read",
    answer: object({
      settings: Type.Array(
        shape("Setting", {
          name: shownText("Name of the variable."),
          value: Type.Unknown({
            description: "The value; of a secret that is set, `(set)`; null where there is none.",
          }),
          text: shownText("The value as a variable has it: a duration with its unit."),
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, Route>>;
