import { type Declarations, QUERIES_MARKER } from "./declarations.ts";

interface Named {
  readonly $: Readonly<Record<string, string>>;
}

/** An Android manifest as `xml2js` parses it. Expo's config plugins receive this form. */
export interface AndroidManifest {
  manifest: {
    queries?: { package?: Named[]; [other: string]: unknown }[];
    application?: { "meta-data"?: Named[]; [other: string]: unknown }[];
    [other: string]: unknown;
  };
}

/** Adds the packages that `<queries>` lacks, and the marker that names the probes. A second call changes nothing. */
export function declareQueries(androidManifest: AndroidManifest, declarations: Declarations): AndroidManifest {
  const { manifest } = androidManifest;
  const declared = new Set((manifest.queries ?? []).flatMap((queries) => queries.package ?? []).map(androidNameOf));
  const missing = declarations.packages.filter((name) => !declared.has(name)).map(named);
  if (missing.length > 0) {
    const [first = {}, ...rest] = manifest.queries ?? [];
    manifest.queries = [{ ...first, package: [...(first.package ?? []), ...missing] }, ...rest];
  }
  const application = manifest.application?.[0];
  if (application && declarations.queryProbes.length > 0) {
    const others = (application["meta-data"] ?? []).filter((entry) => androidNameOf(entry) !== QUERIES_MARKER);
    const value = declarations.queryProbes.join(",");
    application["meta-data"] = [...others, { $: { "android:name": QUERIES_MARKER, "android:value": value } }];
  }
  return androidManifest;
}

function androidNameOf({ $ }: Named): string {
  return $["android:name"] ?? "";
}

function named(name: string): Named {
  return { $: { "android:name": name } };
}
