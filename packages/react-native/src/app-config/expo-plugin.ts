/**
 * The Expo config plugin: `["@device-risk-signals/react-native", { "probes": ["os_integrity"] }]` declares exactly
 * what those probes need.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { type AndroidManifest, declareQueries } from "./android-manifest.ts";
import { declarationsFor, joinSchemes, PACKAGE } from "./declarations.ts";

interface Modified<Results> {
  modResults: Results;
}

type Plugin = <Config>(config: Config, action: (config: Modified<never>) => unknown) => Config;

interface ConfigPlugins {
  readonly withAndroidManifest: Plugin;
  readonly withInfoPlist: Plugin;
}

const OPTIONS: ReadonlySet<string> = new Set(["probes"]);

/**
 * Adds the declarations to the app's config.
 * @throws TypeError if the options are wrong. Prebuild fails later, with a TypeError, if the app declares more
 * schemes than iOS considers.
 */
export function withDeviceRiskSignals<Config>(config: Config, options: unknown = {}): Config {
  const declarations = declarationsFor(readOptions(options).probes);
  const { withAndroidManifest, withInfoPlist } = configPlugins();
  const withQueries = withAndroidManifest(config, (android: Modified<AndroidManifest>) => {
    android.modResults = declareQueries(android.modResults, declarations);
    return android;
  });
  return withInfoPlist(withQueries, (ios: Modified<{ LSApplicationQueriesSchemes?: readonly string[] }>) => {
    const schemes = joinSchemes(ios.modResults.LSApplicationQueriesSchemes ?? [], declarations.schemes);
    if (schemes.length > 0) ios.modResults.LSApplicationQueriesSchemes = schemes;
    return ios;
  });
}

function readOptions(options: unknown): { probes?: unknown } {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`${PACKAGE}: its options must be an object, { "probes": [...] }`);
  }
  const unknown = Object.keys(options).filter((name) => !OPTIONS.has(name));
  if (unknown.length > 0) {
    throw new TypeError(`${PACKAGE}: no such option: ${unknown.join(", ")}; it takes probes`);
  }
  return options;
}

/** Loads the app's own Expo from the folder in which prebuild runs, because Expo also resolves plugins from there. */
function configPlugins(): ConfigPlugins {
  const require = createRequire(join(process.cwd(), "package.json"));
  return require("expo/config-plugins") as ConfigPlugins;
}
