/** Each name of each list is found in each place where it occurs in practice. The lists themselves are the cases. */
import { expect, it, test } from "vitest";
import type { Evidence, Presence } from "../native/native-interface.ts";
import { readAnswer } from "../native/read-answer.ts";
import { BUILD_MEMBERS, EMULATOR_PROPERTIES, EMULATORS, PLAYER_PROPERTIES } from "./emulator-artefacts.ts";
import {
  FRIDA_PORTS,
  FRIDA_THREADS,
  GLIB_THREADS,
  HOOK_CLASSES,
  HOOK_FAMILIES,
  HOOK_LIBRARIES,
  HOOK_PACKAGES,
  HOOKERS,
  XPOSED_CLASSES,
  ZYGOTE_FAMILIES,
  ZYGOTE_LOADERS,
} from "./hook-artefacts.ts";
import { FARM_IMAGES, SIMULATOR_IMAGES, TRANSLATOR_IMAGES } from "./ios-virtual-artefacts.ts";
import { BYPASS_TWEAKS, HOOKING_LIBRARIES, TWEAK_LOADERS } from "./jailbreak-artefacts.ts";
import { type Judgements, mergeSources } from "./judgement.ts";
import { JUDGEMENTS } from "./judgements.ts";
import { DANGEROUS_FACTS } from "./root-artefacts.ts";

const android = JUDGEMENTS.android["os_integrity"] ?? {};
const ios = JUDGEMENTS.ios["os_integrity"] ?? {};

function conclude(judgements: Judgements, evidence: unknown): Record<string, unknown> {
  const read: Evidence = readAnswer({ evidence }).evidence ?? {};
  return Object.fromEntries(Object.entries(judgements).map(([field, judgement]) => [field, judgement.judge(read)]));
}

type Requested = readonly (readonly [source: string, names: readonly string[]])[];

/** The names that native code looks up for these judgements, by source. */
function requestedBy(judgements: Judgements): Requested {
  const sources = mergeSources(Object.values(judgements).map(({ sources }) => sources));
  return Object.entries(sources).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
}

/** Evidence in which every requested name is absent or empty, except `present` of `where`. */
function lookedUp(requested: Requested, where?: string, present?: string): Record<string, unknown> {
  const sources = requested.map(([source, names]): [string, Presence | Record<string, string>] => {
    if (source === "properties") return [source, Object.fromEntries(names.map((name) => [name, ""]))];
    const isPresent = (name: string): boolean => source === where && name === present;
    return [source, { present: names.filter(isPresent), absent: names.filter((name) => !isPresent(name)) }];
  });
  const cpuInfo = { text: "", truncated: false };
  // Schemes count only with another trace, such as the image of a known tweak loader.
  return { ...Object.fromEntries(sources), cpuInfo, images: ["/usr/lib/TweakInject.dylib"] };
}

const LOOKED_UP = Object.entries(JUDGEMENTS).flatMap(([platform, probes]) =>
  Object.entries(probes).flatMap(([probe, judgements]) =>
    requestedBy(judgements)
      .filter(([source]) => source !== "properties" && source !== "executables")
      .flatMap(([source, names]) => names.map((name) => ({ platform, probe, source, name, judgements }))),
  ),
);

test.each(LOOKED_UP)(
  "$platform, $probe: a field shows that $name of $source exists",
  ({ source, name, judgements }) => {
    const requested = requestedBy(judgements);
    const found = conclude(judgements, lookedUp(requested, source, name));
    expect(found).not.toEqual(conclude(judgements, lookedUp(requested)));
  },
);

/** Evidence of an emulator's fact: in the mount table, the build or the properties. */
function evidenceOf(fact: string): Record<string, unknown> {
  const [name = "", value = ""] = fact.replaceAll("*", "/x").split("=");
  const build = Object.fromEntries(BUILD_MEMBERS.map((member) => [member, member === name ? value : ""]));
  const asked = [...EMULATOR_PROPERTIES, ...PLAYER_PROPERTIES];
  const properties = Object.fromEntries(asked.map((property) => [property, property === name ? value : ""]));
  const line = `36 35 0:9 ${name === "root" ? value : "/"} /mnt rw - ${name === "mount" ? value : "ext4"} none rw\n`;
  return { build, properties, mountInfo: { text: line, truncated: false } };
}

const paths = EMULATORS.flatMap(([, files]) => files);
const FACTS = EMULATORS.flatMap(([product, , facts]) => facts.map((fact) => ({ product, fact })));

test.each(FACTS)("$fact shows $product", ({ product, fact }) => {
  const evidence = { ...evidenceOf(fact), paths: { present: [], absent: paths } };
  expect(conclude(android, evidence)["emulatorVendorMarkers"]).toContain(product);
});

test.each(EMULATORS.flatMap(([product, files]) => files.map((file) => ({ product, file }))))(
  "$file shows $product",
  ({ product, file }) => {
    const evidence = { ...evidenceOf("none=none"), paths: { present: [file], absent: paths } };
    expect(conclude(android, evidence)["emulatorVendorMarkers"]).toContain(product);
  },
);

it("the folders of a container, however many, are a single marker of an emulator", () => {
  const lines = ["waydroid.prop", "data", "data/media"].map(
    (folder, index) => `${index + 30} 29 8:1 /var/lib/waydroid/${folder} /mnt/${index} rw - ext4 /dev/sda1 rw\n`,
  );
  const mountInfo = { text: lines.join(""), truncated: false };
  const evidence = { ...evidenceOf("none=none"), paths: { present: [], absent: paths }, mountInfo };
  expect(conclude(android, evidence)).toMatchObject({ isEmulator: false, emulatorVendorMarkers: ["waydroid"] });
});

test.each(DANGEROUS_FACTS)("%s is a dangerous property", (fact) => {
  const [name = "", value] = fact.split("=");
  expect(conclude(android, { properties: { [name]: value } })["dangerousPropsPresent"]).toBe(true);
});

/** The paths at which a memory map shows a library that was injected into an Android app. */
const MAPPED = (file: string): readonly string[] => [
  `/data/local/tmp/${file}`,
  `/data/app/~~a==/com.example-b==/lib/arm64/${file}`,
  `/data/app/~~a==/com.example-b==/base.apk!/lib/arm64-v8a/${file}`,
  `/data/adb/modules/m/zygisk/${file}`,
  `/memfd:${file} (deleted)`,
  `/system/lib64/${file}`,
];
const librariesOf = (names: readonly string[], families: readonly string[]): readonly string[] =>
  [
    ...names.map((name) => `${name}.so`),
    ...families.flatMap((name) => [`${name}.so`, `${name}-agent-64.so`, `${name}_x.so`, `${name}.config.so`]),
  ].flatMap((file) => [file, `lib${file}`]);

test.each([
  ...librariesOf(HOOK_LIBRARIES, HOOK_FAMILIES).map((file) => [file, "hookFrameworkFound"]),
  ...librariesOf(ZYGOTE_LOADERS, ZYGOTE_FAMILIES).map((file) => [file, "zygiskIndicatorsFound"]),
])("a memory map with %s shows %s", (file = "", field = "") => {
  for (const path of MAPPED(file)) {
    const maps = { text: `7a10000000-7a101a0000 r-xp 00000000 fd:05 3200 ${path}\n`, truncated: false };
    expect(conclude(android, { maps }), path).toMatchObject({ [field]: true, injectedLibrariesFound: true });
  }
});

test.each(ZYGOTE_LOADERS)("the zygote's translator lib%s.so shows Zygisk or Riru", (name) => {
  const properties = { "ro.dalvik.vm.native.bridge": `lib${name}.so` };
  expect(conclude(android, { properties })["zygiskIndicatorsFound"]).toBe(true);
});

test.each([...FRIDA_THREADS, ...GLIB_THREADS])("a thread %s is one of Frida's", (name) => {
  expect(conclude(android, { threads: ["main", name] })["fridaThreadNamesFound"]).toEqual([name]);
});

test.each([
  ...HOOK_PACKAGES.map((name) => `${name}.Any.method`),
  ...HOOK_CLASSES.filter((name) => HOOK_PACKAGES.some((known) => name.startsWith(`${known}.`))).map(
    (name) => `${name}.method`,
  ),
  ...HOOKERS.flatMap((name) => [`${name}_.method`, `${name}New_a1.hook`, `a.b.${name}_x.hook`]),
  ...XPOSED_CLASSES.flatMap((name) => [`de.robv.android.xposed.${name}.m`, `q.w.${name}.m`, `q.w.${name}$Inner.m`]),
])("a stack frame %s is a hook's", (frame) => {
  expect(conclude(android, { stack: ["a.B.c", frame] })["hookStackFrames"]).toEqual([frame]);
});

test.each(FRIDA_PORTS)("a listener on the port %s is Frida's", (port) => {
  const text = `   0: 0100007F:${port} 00000000:0000 0A 00000000:00000000\n`;
  expect(conclude(android, { tcpSockets: { text, truncated: false } })["fridaListenerPortFound"]).toBe(true);
});

/** The forms of the file name of a library of iOS: its own, with `lib`, and with prefixes that set the order. */
function formsOf(file: string): readonly string[] {
  const capital = file[0]?.toUpperCase() + file.slice(1);
  return [file, capital, `lib${file}`, `!${file}`, `zzzzz${capital}`, `   ${capital}`, `0${capital}`];
}

/** Places of a tweak, and an app's own folder, where only the name of the image shows it. */
const LOADED = (file: string): readonly string[] => [
  `/Library/MobileSubstrate/DynamicLibraries/${file}`,
  `/usr/lib/${file}`,
  `/var/jb/usr/lib/TweakInject/${file}`,
  `/private/preboot/A1/dopamine-x/procursus/usr/lib/TweakInject/${file}`,
  `/private/var/containers/Bundle/Application/A1/Example.app/Frameworks/${file}`,
];

test.each([
  ...HOOKING_LIBRARIES.map((name) => ({ field: "hookFrameworkFound", files: formsOf(`${name}.dylib`) })),
  ...TWEAK_LOADERS.map((name) => ({ field: "injectedLibrariesFound", files: formsOf(`${name}.dylib`) })),
  ...BYPASS_TWEAKS.map((file) => ({ field: "jailbreakBypassDetected", files: [file, `   ${file}`] })),
])("each of the images $files shows $field", ({ field, files }) => {
  for (const path of files.flatMap(LOADED)) {
    expect(conclude(ios, { images: [path] }), path).toMatchObject({ [field]: true, injectedLibrariesFound: true });
  }
});

it("an image without the first letters of a name is ordinary, also where these letters are `lib`", () => {
  const names = [
    ...HOOKING_LIBRARIES,
    ...TWEAK_LOADERS,
    ...BYPASS_TWEAKS.map((file) => file.replace(/^(z+|!)|\.dylib$/g, "")),
  ];
  for (const name of names) {
    const images = [`/private/var/containers/Bundle/Application/A1/Example.app/Frameworks/${name.slice(3)}.dylib`];
    expect(conclude(ios, { images })["injectedLibrariesFound"], name).toBe(false);
  }
});

test.each([
  ...SIMULATOR_IMAGES.map((name) => [name, "emulatorBuildMarkers"]),
  ...TRANSLATOR_IMAGES.map((name) => [name, "emulatorCpuMarkers"]),
  ...FARM_IMAGES.map((name) => [name, "deviceFarmMarkers"]),
])("an image %s is in %s", (name = "", field = "") => {
  const environment = { present: [], absent: requestedBy(ios).find(([source]) => source === "environment")?.[1] };
  expect(conclude(ios, { images: [`/usr/lib/${name}`], environment })[field]).toEqual([name]);
});
