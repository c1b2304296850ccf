import { expect, it, test } from "vitest";
import { departures } from "../../evidence/check.ts";
import { readCorpus } from "../../evidence/read.ts";
import { cpuMarkers, deviceFarmMarkers, STRONG_MARKERS } from "./android-emulator.ts";
import { androidJudgements } from "./android-judgements.ts";
import { ANDROID_RULES, type AndroidRules } from "./android-rules.ts";
import { BUILD_MEMBERS, WEAK_BUILD_FACTS } from "./emulator-artefacts.ts";
import { facts } from "./finding.ts";
import { iosJudgements } from "./ios-judgements.ts";
import { IOS_RULES, type IosRules } from "./os-integrity-ios.ts";

const corpus = [...readCorpus().values()];

/** Removes the anchors of a pattern, so that it matches parts of words. */
const unanchored = ({ source }: RegExp): RegExp => RegExp(source.replace(/^\^(\(lib\)\?)?/, "").replace(/\$\/?$/, ""));
const open = ({ source }: RegExp): RegExp => RegExp(source.replaceAll("(\\.|$)", "").replaceAll("([-_.]|$)", ""));
const without = <Item>(list: readonly Item[], at: number): readonly Item[] => list.filter((_, index) => index !== at);

const mesa = facts("properties", ["ro.hardware.egl"], /=mesa$/);
const weakBuild = facts("build", BUILD_MEMBERS, WEAK_BUILD_FACTS);

const PARTS = "substrings of names";
const JIT = "deleted mappings of the JIT";
const DRIVERS = "deleted mappings of drivers and WebView";

/** The rule that is loosened or removed, and the false alarm that this causes, in the words of the case. */
const ANDROID: readonly (readonly [what: string, alarm: string, Partial<AndroidRules>])[] = [
  ["a library's name begins with the family", PARTS, { library: unanchored(ANDROID_RULES.library) }],
  ["a library's name ends with the family", PARTS, { library: open(ANDROID_RULES.library) }],
  ["a module's name ends with the family", PARTS, { zygote: open(ANDROID_RULES.zygote) }],
  ["a frame begins with the package", PARTS, { frame: unanchored(ANDROID_RULES.frame) }],
  ["a thread has the whole name", PARTS, { glib: /gmain|gdbus/ }],
  ["a pipe has the whole name", PARTS, { pipe: /^linjector/ }],
  ["threads of GLib are not Frida's", "threads of GLib", { frida: ANDROID_RULES.glib }],
  ["memfd of ART's compiler", JIT, { explained: without(ANDROID_RULES.explained, 0) }],
  ["ashmem of ART's compiler", JIT, { explained: [...without(ANDROID_RULES.explained, 1), /^\/dev\/(kgsl|mali|dri)/] }],
  ["devices of drivers", DRIVERS, { explained: [...without(ANDROID_RULES.explained, 1), /^\/dev\/ashmem/] }],
  ["nameless memory", DRIVERS, { explained: without(ANDROID_RULES.explained, 2) }],
  ["deleted files", "deleted mappings of the app", { foreign: /^\/(memfd:|dev\/)| \(deleted\)$/ }],
  ["an overlay shows folders of modules", "overlays of the maker", { overlay: /lowerdir=/ }],
  ["a maker's folder is in memory", "overlays of the maker", { maker: /^$/ }],
  ["a debug build has changes", "overlays of a debug build", { overlay: /upperdir=/ }],
  ["a socket has Magisk's name", "long names of sockets", { socket: /.{32}/ }],
  ["a port is listened to", "ports without a listener", { listener: /^ *\d+: \w+:(\w{4}) \S+ \S+ / }],
  ["su is a whole name", "busybox and names like su", { su: /\/su/ }],
  ["weak values of the build do not count", "build markers", { markers: [...STRONG_MARKERS, weakBuild] }],
  ["marks of the processor do not count", "Chromebooks", { markers: [...STRONG_MARKERS, cpuMarkers] }],
  ["Mesa does not count", "Chromebooks", { markers: [...STRONG_MARKERS, mesa], minMarkers: 1 }],
  ["marks of a farm do not count", "device farms", { markers: [...STRONG_MARKERS, deviceFarmMarkers] }],
  ["one marker is not enough", "a single marker", { minMarkers: 1 }],
];

const IOS: readonly (readonly [what: string, alarm: string, Partial<IosRules>])[] = [
  ["an image's name is the family's", PARTS, { ofFamily: (family, known) => family.includes(known) }],
  ["frameworks of apps are no tweaks", PARTS, { library: /./ }],
  ["a Mac is known by its libraries", "iOS on a Mac", { macs: without(IOS_RULES.macs, 0) }],
  ["the simulator is known by its libraries", "the simulator", { macs: without(IOS_RULES.macs, 1) }],
  ["a scheme needs another trace", "contested URL schemes", { confirmed: (found) => found }],
  [
    "what a trace can't tell stays unknown",
    "contested URL schemes",
    { confirmed: (found, trace) => ({ ...IOS_RULES.confirmed(found, trace), isComplete: found.isComplete }) },
  ],
  ["a VPN is a tunnel", "tunnels of iOS", { tunnel: /./ }],
];

function failing(android: Partial<AndroidRules>, ios: Partial<IosRules> = {}): readonly (string | undefined)[] {
  const judgements = {
    android: androidJudgements({ ...ANDROID_RULES, ...android }),
    ios: iosJudgements({ ...IOS_RULES, ...ios }),
  };
  return corpus.filter((subject) => departures(subject, judgements).length > 0).map(({ falseAlarm }) => falseAlarm);
}

it("every case passes with the unchanged rules", () => {
  expect(failing({})).toEqual([]);
});

test.each(ANDROID)("Android, without the rule «%s»: a case of «%s» fails", (_, alarm, loosened) => {
  expect(failing(loosened)).toContain(alarm);
});

test.each(IOS)("iOS, without the rule «%s»: a case of «%s» fails", (_, alarm, loosened) => {
  expect(failing({}, loosened)).toContain(alarm);
});

it("every rule is loosened in at least one test", () => {
  const loosened = (table: readonly (readonly [string, string, object])[]) =>
    new Set(table.flatMap(([, , rules]) => Object.keys(rules)));
  expect(loosened(ANDROID)).toEqual(new Set(Object.keys(ANDROID_RULES)));
  expect(loosened(IOS)).toEqual(new Set(Object.keys(IOS_RULES)));
});
