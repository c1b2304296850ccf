/**
 * What jailbreaks leave behind on iOS, as published in github.com/securing/IOSSecuritySuite, OWASP MASTG (testing
 * jailbreak detection), theapplewiki.com (Procursus, Dopamine, palera1n, rootless) and by the tweaks themselves.
 */
import { under } from "./under.ts";

export const JAILBREAK_STORES = [
  ...under("/Applications/", "Cydia.app Sileo.app Zebra.app"),
  ...under("/var/jb/Applications/", "Sileo.app Zebra.app"),
];

/** iOS has no `su`; it comes with the bootstraps. */
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

/** Recognises images by their whole name, never by a part of it; gives the name. */
export function imagesNamed(names: string): (path: string) => string | undefined {
  const known = new Set(names.split(" "));
  return (path) => {
    const name = path.slice(path.lastIndexOf("/") + 1).trimStart();
    return known.has(name) ? name : undefined;
  };
}

/** Libraries of tweaks that hide a jailbreak; on disk, some begin with blanks so that they are loaded first. */
const BYPASS_TWEAKS =
  "Shadow.dylib Choicy.dylib FlyJB.dylib FlyJBX.dylib HideJB.dylib zzzzzLiberty.dylib ABypass.dylib !ABypass2.dylib";

export const BYPASS_PATHS = [
  ...under("/Library/MobileSubstrate/DynamicLibraries/", BYPASS_TWEAKS),
  ...under("/var/jb/usr/lib/TweakInject/", BYPASS_TWEAKS),
  "/usr/bin/vnodebypass",
];
export const bypassImage = imagesNamed(BYPASS_TWEAKS);

/** Cydia Substrate, Substitute, libhooker, ElleKit, Frida, Cycript. */
const HOOKING_IMAGES =
  "CydiaSubstrate libsubstrate.dylib SubstrateLoader.dylib MobileSubstrate.dylib libsubstitute.dylib libhooker.dylib" +
  " libellekit.dylib FridaGadget FridaGadget.dylib frida-agent.dylib libcycript.dylib";
/** Loaders of tweaks, Dopamine's and roothide's hooks of the system, and a tweak that opens TLS. */
const LOADED_IMAGES = "TweakInject.dylib systemhook.dylib roothideinit.dylib SSLKillSwitch2.dylib";

export const hookingImage = imagesNamed(HOOKING_IMAGES);
export const injectedImage = imagesNamed(`${HOOKING_IMAGES} ${LOADED_IMAGES} ${BYPASS_TWEAKS}`);

/** Ordinary apps of the App Store claim these, too: they mean nothing without further evidence. */
export const CONTESTED_SCHEMES = ["cydia", "activator", "undecimus"];
export const JAILBREAK_SCHEMES = ["sileo", "zbra", "filza"];

/** Folders that are no links on a stock device; unc0ver and Cydia's stashing made them so. */
export const PLAIN_FOLDERS = under(
  "/",
  "Applications Library/Ringtones Library/Wallpaper usr/include usr/libexec usr/share",
);

export const READ_ONLY_PLACES = under("/", " private Applications Library System usr");

/** dyld(1), Substrate's and libhooker's safe modes, and what rootless jailbreaks pass to a process. */
export const INJECTION_VARIABLES = [
  ...under("DYLD_", "INSERT_LIBRARIES LIBRARY_PATH FRAMEWORK_PATH"),
  ...under("", "_MSSafeMode _SafeMode JB_SANDBOX_EXTENSIONS JBROOT"),
];

/** Frida, its cluster port, Needle's agent; dropbear of checkra1n and palera1n. */
export const REVERSE_ENGINEERING_PORTS = ["27042", "27043", "4444", "44", "2222"];
