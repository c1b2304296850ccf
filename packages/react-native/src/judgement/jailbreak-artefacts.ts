/**
 * Traces of jailbreaks on iOS, as published in github.com/securing/IOSSecuritySuite, OWASP MASTG (testing jailbreak
 * detection), theapplewiki.com (Procursus, Dopamine, palera1n, rootless) and by the tweaks themselves.
 */
import { under } from "./under.ts";

export const JAILBREAK_STORES = [
  ...under("/Applications/", "Cydia.app Sileo.app Zebra.app"),
  ...under("/var/jb/Applications/", "Sileo.app Zebra.app"),
];

/** iOS has no `su`; the bootstraps of jailbreaks install it. */
export const JAILBREAK_SU = under("/", "bin/su usr/bin/su var/jb/usr/bin/su");

export const JAILBREAK_PATHS = [
  ...JAILBREAK_STORES,
  ...JAILBREAK_SU,
  ...under(
    "/",
    ".installed_unc0ver .procursus_strapped bin/bash etc/apt usr/sbin/sshd usr/lib/TweakInject cores/binpack",
  ),
  ...under("/Library/MobileSubstrate", " /MobileSubstrate.dylib /DynamicLibraries"),
  ...under("/private/var/lib/", "apt cydia"),
  ...under(
    "/var/",
    "binpack Liy/.procursus_strapped jb jb/.procursus_strapped jb/.installed_dopamine jb/usr/lib/TweakInject",
  ),
];

/** Recognises an image by its whole name, never by a part of it, and returns the name. */
export function imagesNamed(names: readonly string[]): (path: string) => string | undefined {
  const known = new Set(names);
  return (path) => {
    const name = imageName(path);
    return known.has(name) ? name : undefined;
  };
}

/**
 * File names of tweaks that hide a jailbreak from apps. The prefixes `!` and `zzzzz` make the loader load a tweak first
 * or last.
 */
export const BYPASS_TWEAKS = under(
  "",
  "Shadow.dylib Choicy.dylib FlyJB.dylib FlyJBX.dylib HideJB.dylib zzzzzLiberty.dylib ABypass.dylib !ABypass2.dylib",
);

export const BYPASS_PATHS = [
  ...BYPASS_TWEAKS.flatMap((file) => [
    `/Library/MobileSubstrate/DynamicLibraries/${file}`,
    `/var/jb/usr/lib/TweakInject/${file}`,
  ]),
  "/usr/bin/vnodebypass",
];

/** Libraries of Cydia Substrate, Substitute, libhooker, ElleKit, Frida and Cycript. */
export const HOOKING_LIBRARIES = [
  "substrate",
  "cydiasubstrate",
  "mobilesubstrate",
  "substitute",
  "hooker",
  "ellekit",
  "frida",
  "cycript",
];
/**
 * Libraries that load tweaks, Dopamine's and roothide's hooks of the system, and a tweak that disables the pinning of
 * TLS certificates.
 */
export const TWEAK_LOADERS = ["tweakinject", "systemhook", "roothideinit", "sslkillswitch"];

/** Prefixes that make the loader load a library first or last. */
const ORDER_PREFIX = /^([^a-z]+|a{3,}|z{3,})/;
const PLATFORM_SUFFIX = /[-_.](ios|iphoneos|universal|arm64e?|rootless|rootful)/g;
const VERSION_SUFFIX = /[-_.]?[0-9][0-9.]*$/;
/** Suffixes for the parts of a framework. */
const PART_SUFFIX = /[-_]?(loader|inserter|agent|gadget|server|dopamine)$/;
/** Names of libraries are shorter. On a longer name the patterns would be slow. */
const MAX_NAME_LENGTH = 128;

/**
 * The family of a library. The family of `0FridaGadget.dylib` and of `frida-gadget-16.1.4-ios-universal.dylib` is
 * `frida`; the family of `SubstrateLoader.dylib` is `substrate`. The prefix `lib` stays, because a name such as
 * `Liberty` begins with these letters.
 */
function familyOf(name: string): string {
  if (name.length > MAX_NAME_LENGTH) return "";
  const plain = name
    .toLowerCase()
    .replace(/\.dylib$/, "")
    .replace(ORDER_PREFIX, "");
  return plain.replace(PLATFORM_SUFFIX, "").replace(VERSION_SUFFIX, "").replace(PART_SUFFIX, "");
}

const BYPASS_FAMILIES = BYPASS_TWEAKS.map(familyOf);

/**
 * Families of which a framework counts, too, and not only a `.dylib`, because their names are no ordinary words.
 * Frameworks of apps may have ordinary words as names, such as `Shadow` and `Substrate`.
 */
const IN_FRAMEWORKS = new Set(["cydiasubstrate", "frida", "tweakinject"]);

/** Returns a function that recognises an image of one of the families and returns the name of the image. */
function imagesOf({ library, ofFamily }: ImageRules, families: readonly string[]): Recognise {
  return (path) => {
    const name = imageName(path);
    const family = familyOf(name);
    const isKnown = families.some((known) => ofFamily(family, known) || ofFamily(family, `lib${known}`));
    return isKnown && (library.test(name) || IN_FRAMEWORKS.has(family)) ? name : undefined;
  };
}

type Recognise = (path: string) => string | undefined;

export interface ImageRules {
  /** Matches the name of a single library, and not of a framework. */
  readonly library: RegExp;
  /** Whether the family of an image is the known family. */
  readonly ofFamily: (family: string, known: string) => boolean;
}

/** A family must be equal, and not only contain the word, because `libfriday.dylib` is an ordinary library. */
export const IMAGE_RULES: ImageRules = { library: /\.dylib$/, ofFamily: (family, known) => family === known };

function imageName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).trimStart();
}

export function hookingImage(rules: ImageRules): Recognise {
  return imagesOf(rules, HOOKING_LIBRARIES);
}

export function injectedImage(rules: ImageRules): Recognise {
  return imagesOf(rules, [...HOOKING_LIBRARIES, ...TWEAK_LOADERS, ...BYPASS_FAMILIES]);
}

export function bypassImage(rules: ImageRules): Recognise {
  return imagesOf(rules, BYPASS_FAMILIES);
}

/**
 * Folders in which a stock device has no libraries: some below `/Library` and `/usr/lib`, and the roots of jailbreaks.
 * Substrate copies libraries to random names below `/Library` before it loads them.
 */
const TWEAK_PLACE =
  /^\/Library\/(MobileSubstrate|TweakInject|Frameworks|Caches)\/|^\/usr\/lib\/(TweakInject|substrate|ellekit)\/|^(\/private)?\/var\/jb\/|(^|\/)procursus\/usr\/lib\/|\/\.?jbroot-[0-9A-Za-z]+\//;

export function imageInTweakPlace(path: string): string | undefined {
  return TWEAK_PLACE.test(path) ? imageName(path) : undefined;
}

/**
 * Any app may claim a scheme, and apps of the App Store do so. Therefore a scheme counts as evidence only with another
 * trace.
 */
export const JAILBREAK_SCHEMES = ["cydia", "activator", "undecimus", "sileo", "zbra", "filza"];

/**
 * Folders that are no symbolic links on a stock device. The jailbreak unc0ver and Cydia, which moves folders to another
 * partition, replace them with links.
 */
export const PLAIN_FOLDERS = under(
  "/",
  "Applications Library/Ringtones Library/Wallpaper usr/include usr/libexec usr/share",
);

export const READ_ONLY_PLACES = under("/", " private Applications Library System usr");

/**
 * Variables of dyld (dyld(1)), of the safe modes of Substrate and libhooker, and variables that rootless jailbreaks
 * pass to a process.
 */
export const INJECTION_VARIABLES = [
  ...under("DYLD_", "INSERT_LIBRARIES LIBRARY_PATH FRAMEWORK_PATH"),
  ...under("", "_MSSafeMode _SafeMode JB_SANDBOX_EXTENSIONS JBROOT"),
];

/** Ports of Frida, of its cluster, of Needle's agent, and of the SSH server dropbear of checkra1n and palera1n. */
export const REVERSE_ENGINEERING_PORTS = ["27042", "27043", "4444", "44", "2222"];
