import { expect, it, test } from "vitest";
import { departures } from "../../evidence/check.ts";
import { readCorpus } from "../../evidence/read.ts";
import { androidJudgements } from "./android-judgements.ts";
import type { GuardName } from "./guards.ts";
import { iosJudgements } from "./ios-judgements.ts";
import type { JudgementsByPlatform } from "./judgement.ts";

const corpus = [...readCorpus().values()];

/** The false alarm that comes back where a guard is left out, as the case says it. */
const ALARMS: Readonly<Record<GuardName, string>> = {
  "library-names-begin": "substrings of names",
  "library-names-end": "substrings of names",
  "frames-by-package": "substrings of names",
  "threads-by-whole-name": "substrings of names",
  "pipes-by-whole-name": "substrings of names",
  "images-by-whole-name": "substrings of names",
  "frameworks-of-apps": "substrings of names",
  "glib-threads": "threads of GLib",
  "jit-memfd": "deleted mappings of the JIT",
  "jit-ashmem": "deleted mappings of the JIT",
  "driver-memory": "deleted mappings of drivers and WebView",
  "nameless-memory": "deleted mappings of drivers and WebView",
  "deleted-files": "deleted mappings of the app",
  "overlays-of-modules": "overlays of the maker",
  "sockets-by-name": "long names of sockets",
  "listeners-only": "ports that nobody listens on",
  "su-by-whole-name": "busybox and names like su",
  "weak-build-values": "build markers",
  "processor-marks": "Chromebooks",
  "farm-marks": "device farms",
  "two-markers": "a single marker",
  "phones-only": "the simulator",
  "simulator-by-libraries": "the simulator",
  "mac-by-libraries": "iOS on a Mac",
  "schemes-need-a-trace": "contested URL schemes",
  "unknown-traces": "contested URL schemes",
  "tunnels-only": "tunnels of iOS",
};

function judgementsWithout(guard?: string): JudgementsByPlatform {
  const isActive = (name: GuardName): boolean => name !== guard;
  return { android: androidJudgements(isActive), ios: iosJudgements(isActive) };
}

function failing(judgements: JudgementsByPlatform): readonly (string | undefined)[] {
  return corpus.filter((subject) => departures(subject, judgements).length > 0).map(({ falseAlarm }) => falseAlarm);
}

it("with every guard no case fails", () => {
  expect(failing(judgementsWithout())).toEqual([]);
});

test.each(Object.entries(ALARMS))("without the guard %s a case of «%s» fails", (guard, alarm) => {
  expect(failing(judgementsWithout(guard))).toContain(alarm);
});
