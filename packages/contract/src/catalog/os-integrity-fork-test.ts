import { boolean, type Probe } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const osIntegrityForkTest: Probe = {
  id: "os_integrity_fork_test",
  title: "OS integrity: fork test",
  meaning: "Whether the sandbox lets the app fork. Off by default: the attempt may end the app.",
  platforms: ["ios"],
  enabledByDefault: false,
  disclosure: DIAGNOSTICS,
  performed: { field: "testPerformed" },
  fields: {
    testPerformed: boolean("The test was run; false means that it was not, and then no other field is present.", {
      required: true,
    }),
    forkSucceeded: boolean("fork() returned a child. On a stock iPhone the sandbox denies it.", {
      on: "ios",
      sensitivity: "medium",
    }),
  },
};
