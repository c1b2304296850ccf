import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  declarationsFor,
  DEFAULT_PROBES,
  MAX_SCHEMES,
  PACKAGE,
  QUERIES_MARKER,
  readProbeIds,
} from "../app-config/declarations.ts";
import { installTimePermissions } from "../app-config/permissions.ts";
import { type ExpoConfig, readExpoConfig } from "./expo-config.ts";

/** One finding of `doctor`. The integrator must fix `missing` and `too much`; `optional` is the integrator's choice. */
export interface Finding {
  readonly kind: "ok" | "optional" | "missing" | "too much";
  readonly text: string;
}

const OLDEST_MINOR = 80;

/**
 * Examines an app's folder and changes no file. Runs a dynamic config, such as `app.config.ts`, as Expo does.
 * @param probes the probes of the app. Without them, `examine` expects the declarations of the probes that the plugin's
 * entry in the Expo config names, or of the default probes if it names none; and it examines the permissions of the
 * default probes and of the named probes.
 * @throws TypeError if a probe is unknown, or if `package.json` is no JSON.
 */
export function examine(folder: string, probes: readonly string[] | undefined): readonly Finding[] {
  const manifest = readJson(join(folder, "package.json"));
  if (!manifest) return [missing("package.json: run this in the app's folder")];
  const config = readExpoConfig(folder);
  if (config && "reason" in config) {
    return [...examinePackages(manifest), missing(`${config.file}: a config that can be read; ${config.reason}`)];
  }
  const plugin = pluginOf(config);
  const origin = probes ? "doctor --probes" : `${config?.file ?? "app.json"}: the plugin "${PACKAGE}"`;
  const declarations = declarationsFor(probes ?? plugin?.probes, origin);
  const enabled = probes ?? [...DEFAULT_PROBES, ...readProbeIds(plugin?.probes ?? [], origin)];
  const native = examineNative(folder, declarations, enabled);
  return [...examinePackages(manifest), ...(native.length > 0 ? native : examinePlugin(config, plugin, enabled))];
}

/** Returns no finding if the folder has no native projects. */
function examineNative(
  folder: string,
  declarations: ReturnType<typeof declarationsFor>,
  enabled: readonly string[],
): readonly Finding[] {
  const android = read(join(folder, "android/app/src/main/AndroidManifest.xml"));
  const plist = infoPlistOf(join(folder, "ios"));
  return [
    ...(android === undefined ? [] : examineAndroid(withoutComments(android), declarations)),
    ...(android === undefined ? [] : examinePermissions(enabled, declaredIn(withoutComments(android)), inManifest)),
    ...(plist === undefined ? [] : examineIos(plist, declarations.schemes)),
  ];
}

/** Examines only the config, because an Expo app has no native projects before prebuild. */
function examinePlugin(
  config: ExpoConfig | undefined,
  plugin: { readonly probes: unknown } | undefined,
  enabled: readonly string[],
): readonly Finding[] {
  const file = config?.file ?? "app.json";
  const text = `${file}: the plugin "${PACKAGE}"`;
  const declared = [...TEMPLATE_PERMISSIONS, ...(config?.permissions ?? [])];
  const inConfig = (permission: string): string => `${file}: "android.permission.${permission}" in android.permissions`;
  return [
    plugin ? ok(`${text} declares the rest at prebuild`) : missing(text),
    ...(config ? examinePermissions(enabled, declared, inConfig) : []),
  ];
}

/** Permissions that prebuild's template declares. */
const TEMPLATE_PERMISSIONS = ["INTERNET"];

function examinePermissions(
  enabled: readonly string[],
  declared: readonly string[],
  place: (permission: string) => string,
): readonly Finding[] {
  const names = new Set(declared.map((name) => name.replace(/^android\.permission\./, "")));
  return installTimePermissions(enabled)
    .filter(({ permission }) => !names.has(permission))
    .map(({ permission, probe, fields }) => ({
      kind: "optional",
      text: `${place(permission)} gives ${probe}: ${fields.join(", ")}; no user is asked, and a library may declare it already`,
    }));
}

function declaredIn(xml: string): readonly string[] {
  const tags = [...xml.matchAll(/<uses-permission\b[^>]*>/g)].map(([tag]) => tag);
  return tags
    .filter((tag) => !tag.includes('tools:node="remove"'))
    .flatMap((tag) => /android:name="([^"]*)"/.exec(tag)?.[1] ?? []);
}

const inManifest = (permission: string): string =>
  `AndroidManifest.xml: <uses-permission android:name="android.permission.${permission}" />`;

type Json = Readonly<Record<string, unknown>>;

function examinePackages(manifest: Json): readonly Finding[] {
  const dependencies = { ...(manifest["devDependencies"] as Json), ...(manifest["dependencies"] as Json) };
  const version = typeof dependencies["react-native"] === "string" ? dependencies["react-native"] : undefined;
  const minor = Number(/(\d+)\.(\d+)/.exec(version ?? "")?.[2]);
  return [
    PACKAGE in dependencies ? ok(`${PACKAGE} is a dependency`) : missing(`package.json: the dependency ${PACKAGE}`),
    version === undefined
      ? missing("package.json: the dependency react-native")
      : minor < OLDEST_MINOR
        ? missing(`react-native 0.${OLDEST_MINOR} or later: package.json has ${version}`)
        : ok(`react-native ${version}`),
  ];
}

function examineAndroid(
  text: string,
  { packages, queryProbes }: ReturnType<typeof declarationsFor>,
): readonly Finding[] {
  const where = "AndroidManifest.xml";
  const queries = [...text.matchAll(/<queries\b[^>]*>([\s\S]*?)<\/queries>/g)]
    .map(([, inside = ""]) => inside)
    .join("");
  const declared = new Set([...queries.matchAll(/<package\s[^>]*android:name="([^"]*)"/g)].map(([, name]) => name));
  const absent = packages.filter((name) => !declared.has(name));
  const marker = [...text.matchAll(/<meta-data\s[^>]*>/g)]
    .map(([tag]) => tag)
    .find((tag) => tag.includes(`"${QUERIES_MARKER}"`));
  const marked = (/android:value="([^"]*)"/.exec(marker ?? "")?.[1] ?? "").split(",").filter(Boolean);
  const unmarked = queryProbes.filter((probe) => !marked.includes(probe));
  const overmarked = marked.filter((probe) => !queryProbes.some((known) => known === probe));
  return [
    absent.length === 0
      ? ok(`${where}: all ${packages.length} queries`)
      : missing(`${where}: <queries> lack ${absent.map((name) => `<package android:name="${name}" />`).join(" ")}`),
    ...(unmarked.length > 0
      ? [
          missing(
            `${where}: <application> lacks <meta-data android:name="${QUERIES_MARKER}" android:value="${queryProbes.join(",")}" />`,
          ),
        ]
      : []),
    ...(overmarked.length > 0
      ? [
          tooMuch(
            `${where}: ${QUERIES_MARKER} names ${overmarked.join(",")}, which is not enabled or asks for no package`,
          ),
        ]
      : []),
    ...(text.includes("QUERY_ALL_PACKAGES")
      ? [tooMuch(`${where}: QUERY_ALL_PACKAGES; the SDK needs the listed queries alone`)]
      : []),
  ];
}

function examineIos(xml: string, schemes: readonly string[]): readonly Finding[] {
  const where = "Info.plist";
  const list =
    /<key>LSApplicationQueriesSchemes<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(withoutComments(xml))?.[1] ?? "";
  const declared = [...list.matchAll(/<string>([^<]*)<\/string>/g)].map(([, scheme = ""]) => scheme);
  const absent = schemes.filter((scheme) => !declared.includes(scheme));
  return [
    absent.length === 0
      ? ok(`${where}: all ${schemes.length} schemes`)
      : missing(
          `${where}: LSApplicationQueriesSchemes lack ${absent.map((scheme) => `<string>${scheme}</string>`).join(" ")}`,
        ),
    ...(declared.length > MAX_SCHEMES
      ? [
          tooMuch(
            `${where}: ${declared.length} schemes in LSApplicationQueriesSchemes; iOS considers only ${MAX_SCHEMES}`,
          ),
        ]
      : []),
  ];
}

function pluginOf(config: ExpoConfig | undefined): { readonly probes: unknown } | undefined {
  for (const plugin of config?.plugins ?? []) {
    const [name, options] = (Array.isArray(plugin) ? plugin : [plugin]) as [unknown, Json | undefined];
    if (name === PACKAGE) return { probes: options?.["probes"] };
  }
  return undefined;
}

function infoPlistOf(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  for (const name of readdirSync(folder)) {
    const text = /^(Pods|build)$/.test(name) ? undefined : read(join(folder, name, "Info.plist"));
    if (text !== undefined) return text;
  }
  return undefined;
}

function withoutComments(xml: string): string {
  return xml.replaceAll(/<!--[\s\S]*?-->/g, "");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function readJson(path: string): Json | undefined {
  const text = read(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new TypeError(`${path} is no JSON`);
  }
}

const ok = (text: string): Finding => ({ kind: "ok", text });
const missing = (text: string): Finding => ({ kind: "missing", text });
const tooMuch = (text: string): Finding => ({ kind: "too much", text });
