import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

/** The part of an app's Expo config that `doctor` reads. */
export interface ExpoConfig {
  /** The name of the config file, which findings name. */
  readonly file: string;
  readonly plugins: readonly unknown[];
  /** Android permissions that the app's config and its plugins declare, in the spelling of the config. */
  readonly permissions: readonly string[];
}

export interface UnreadableConfig {
  readonly file: string;
  readonly reason: string;
}

type Json = Readonly<Record<string, unknown>>;

interface ExpoConfigPackage {
  getConfig(
    folder: string,
    options: Json,
  ): { readonly exp: Json; readonly dynamicConfigPath?: string | null; readonly staticConfigPath?: string | null };
}

const DYNAMIC_CONFIG_FILES = ["ts", "mts", "cts", "mjs", "cjs", "js"].map((extension) => `app.config.${extension}`);

/**
 * The config of the app in a folder. The app's own `@expo/config` builds it from a JSON file and from a dynamic config,
 * such as `app.config.ts`. `@expo/config` runs the dynamic config after Expo's environment files were loaded. If Expo
 * is not installed, only a config that consists of a JSON file can be read.
 * @returns `undefined` if the app has no config; the reason if the config can't be read.
 */
export function readExpoConfig(folder: string): ExpoConfig | UnreadableConfig | undefined {
  const file = [...DYNAMIC_CONFIG_FILES, "app.json", "app.config.json"].find((name) => existsSync(join(folder, name)));
  if (file === undefined) return undefined;
  const require = createRequire(join(folder, "package.json"));
  try {
    const config = firstOf(require, ["@expo/config", "expo/config"]) as ExpoConfigPackage | undefined;
    if (!config) return file.endsWith(".json") ? readStatic(folder, file) : { file, reason: "Expo is not installed" };
    loadEnvironment(folder, require);
    const { exp, dynamicConfigPath, staticConfigPath } = config.getConfig(folder, { skipSDKVersionRequirement: true });
    return configOf(basename(dynamicConfigPath ?? staticConfigPath ?? file), exp);
  } catch (error) {
    return { file, reason: error instanceof Error ? error.message : String(error) };
  }
}

function readStatic(folder: string, file: string): ExpoConfig | UnreadableConfig {
  try {
    const app = JSON.parse(readFileSync(join(folder, file), "utf8")) as Json;
    return configOf(file, (app["expo"] as Json | undefined) ?? app);
  } catch {
    return { file, reason: "not JSON" };
  }
}

function configOf(file: string, { plugins, android }: Json): ExpoConfig {
  const { permissions } = (android ?? {}) as Json;
  return {
    file,
    plugins: Array.isArray(plugins) ? (plugins as unknown[]) : [],
    permissions: Array.isArray(permissions) ? (permissions as string[]) : [],
  };
}

/** Loads the `.env` files before the config is read, as Expo's command line does. */
function loadEnvironment(folder: string, require: NodeJS.Require): void {
  process.env["NODE_ENV"] ??= "development";
  const environment = firstOf(require, ["@expo/env"]) as { load?(folder: string, options: Json): unknown } | undefined;
  environment?.load?.(folder, { silent: true });
}

/** Loads the first of these packages that is installed in the app. Returns `undefined` if none is. */
function firstOf(require: NodeJS.Require, names: readonly string[]): unknown {
  for (const name of names) {
    try {
      require.resolve(name);
    } catch {
      continue;
    }
    return require(name) as unknown;
  }
  return undefined;
}
